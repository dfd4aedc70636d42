import re

FORM = re.compile(r"(M{0,3})(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})")
VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def from_roman(text):
    if not text or not FORM.fullmatch(text):
        return None
    total = 0
    for here, after in zip(text, text[1:] + "I"):
        total += -VALUES[here] if VALUES[here] < VALUES[after] else VALUES[here]
    return total
