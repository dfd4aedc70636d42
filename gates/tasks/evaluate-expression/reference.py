def evaluate(text):
    tokens = list(text.replace(" ", ""))
    at = 0

    def peek():
        return tokens[at] if at < len(tokens) else ""

    def factor():
        nonlocal at
        if peek() == "-":
            at += 1
            return -factor()
        if peek() == "(":
            at += 1
            value = total()
            at += 1
            return value
        start = at
        while peek().isdigit():
            at += 1
        return int("".join(tokens[start:at]))

    def product():
        nonlocal at
        value = factor()
        while peek() in ("*", "/"):
            sign = peek()
            at += 1
            other = factor()
            if sign == "*":
                value *= other
            else:
                value = abs(value) // abs(other) * (1 if (value < 0) == (other < 0) else -1)
        return value

    def total():
        nonlocal at
        value = product()
        while peek() in ("+", "-"):
            sign = peek()
            at += 1
            value = value + product() if sign == "+" else value - product()
        return value

    return total()
