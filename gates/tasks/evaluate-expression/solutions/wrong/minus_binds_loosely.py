import re


def evaluate(text):
    tokens = re.findall(r"[0-9]+|[-+*/()]", text)

    def factor():
        t = tokens.pop(0)
        if t == "-":
            return -total()
        if t == "(":
            v = total()
            tokens.pop(0)
            return v
        return int(t)

    def product():
        v = factor()
        while tokens and tokens[0] in "*/":
            if tokens.pop(0) == "*":
                v *= factor()
            else:
                d = factor()
                v = abs(v) // abs(d) * (1 if (v < 0) == (d < 0) else -1)
        return v

    def total():
        v = product()
        while tokens and tokens[0] in "+-":
            v = v + product() if tokens.pop(0) == "+" else v - product()
        return v

    return total()
