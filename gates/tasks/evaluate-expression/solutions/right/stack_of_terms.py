def evaluate(text: str) -> int:
    text = text.replace(" ", "")

    def parse(i):
        """Value of the sum that begins at i, and where it ends (a closing bracket or the end)."""
        terms, sign, negative = [], "+", False
        while i < len(text) and text[i] != ")":
            c = text[i]
            if c.isdigit() or c == "(":
                if c == "(":
                    n, i = parse(i + 1)
                    i += 1
                else:
                    j = i
                    while j < len(text) and text[j].isdigit():
                        j += 1
                    n, i = int(text[i:j]), j
                if negative:
                    n = -n
                if sign == "+":
                    terms.append(n)
                elif sign == "-":
                    terms.append(-n)
                elif sign == "*":
                    terms.append(terms.pop() * n)
                else:
                    a = terms.pop()
                    q = abs(a) // abs(n)
                    terms.append(q if (a < 0) == (n < 0) else -q)
                sign, negative = "", False
            else:
                if c == "-" and (sign or not terms):
                    if sign == "" or (sign == "+" and not terms and i == 0):
                        pass
                    negative = not negative
                else:
                    sign = c
                i += 1
        return sum(terms), i

    return parse(0)[0]
