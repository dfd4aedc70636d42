import re


def _divide(a, b):
    q = abs(a) // abs(b)
    return q if (a >= 0) == (b > 0) else -q


def evaluate(text):
    rank = {"+": 1, "-": 1, "*": 2, "/": 2, "~": 3}
    numbers, signs = [], []

    def apply():
        sign = signs.pop()
        b = numbers.pop()
        if sign == "~":
            numbers.append(-b)
            return
        a = numbers.pop()
        numbers.append({"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: _divide(a, b)}[sign]())

    wants_value = True
    for token in re.findall(r"[0-9]+|[-+*/()]", text):
        if token.isdigit():
            numbers.append(int(token))
            wants_value = False
        elif token == "(":
            signs.append(token)
        elif token == ")":
            while signs[-1] != "(":
                apply()
            signs.pop()
            wants_value = False
        else:
            if token == "-" and wants_value:
                signs.append("~")
                continue
            while signs and signs[-1] != "(" and rank[signs[-1]] >= rank[token]:
                apply()
            signs.append(token)
            wants_value = True
    while signs:
        apply()
    return numbers[0]
