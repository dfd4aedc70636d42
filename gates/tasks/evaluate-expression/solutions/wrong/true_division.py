import re


def evaluate(text):
    tokens = re.findall(r"[0-9]+|[-+*/()]", text)

    def factor():
        t = tokens.pop(0)
        if t == "-":
            return -factor()
        if t == "(":
            v = total()
            tokens.pop(0)
            return v
        return int(t)

    def product():
        v = factor()
        while tokens and tokens[0] in "*/":
            v = v * factor() if tokens.pop(0) == "*" else v / factor()
        return v

    def total():
        v = product()
        while tokens and tokens[0] in "+-":
            v = v + product() if tokens.pop(0) == "+" else v - product()
        return v

    return int(total())
