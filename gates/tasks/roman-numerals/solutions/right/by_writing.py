def from_roman(text):
    table = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
             (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]

    def write(n):
        out = []
        for value, letters in table:
            times, n = divmod(n, value)
            out.append(letters * times)
        return "".join(out)

    total, rest = 0, text
    for value, letters in table:
        while rest.startswith(letters):
            total += value
            rest = rest[len(letters):]
    return total if not rest and 1 <= total <= 3999 and write(total) == text else None
