def _digit(one, five, ten):
    return ["", one, one * 2, one * 3, one + five, five, five + one, five + one * 2, five + one * 3, one + ten]


def from_roman(text: str):
    thousands, hundreds = ["", "M", "MM", "MMM"], _digit("C", "D", "M")
    tens, ones = _digit("X", "L", "C"), _digit("I", "V", "X")
    known = {
        a + b + c + d: 1000 * i + 100 * j + 10 * k + m
        for i, a in enumerate(thousands)
        for j, b in enumerate(hundreds)
        for k, c in enumerate(tens)
        for m, d in enumerate(ones)
    }
    value = known.get(text, 0)
    return value or None
