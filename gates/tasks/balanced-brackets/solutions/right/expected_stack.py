from collections import deque


def balanced(text):
    wanted = deque()
    for c in text:
        match c:
            case "(":
                wanted.append(")")
            case "[":
                wanted.append("]")
            case "{":
                wanted.append("}")
            case ")" | "]" | "}":
                if not wanted or wanted.pop() != c:
                    return False
    return len(wanted) == 0
