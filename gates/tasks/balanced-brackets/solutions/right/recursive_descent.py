def balanced(text: str) -> bool:
    closing = {"(": ")", "[": "]", "{": "}"}
    marks = [c for c in text if c in "()[]{}"]

    def group(at):
        """Position after the groups that begin at `at`, or -1."""
        while at < len(marks) and marks[at] in closing:
            end = group(at + 1)
            if end < 0 or end >= len(marks) or marks[end] != closing[marks[at]]:
                return -1
            at = end + 1
        return at

    return group(0) == len(marks)
