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

    def total():
        v = factor()
        while tokens and tokens[0] in "+-*/":
            s, w = tokens.pop(0), factor()
            if s == "/":
                v = abs(v) // abs(w) * (1 if (v < 0) == (w < 0) else -1)
            else:
                v = v + w if s == "+" else v - w if s == "-" else v * w
        return v

    return total()
