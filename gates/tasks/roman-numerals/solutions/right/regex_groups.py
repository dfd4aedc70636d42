import re


def from_roman(text):
    m = re.match(r"^(M{0,3})(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})\Z", text)
    if m is None or text == "":
        return None
    values = dict(I=1, V=5, X=10, L=50, C=100, D=500, M=1000)
    total, previous = 0, 0
    for letter in reversed(text):
        value = values[letter]
        total += value if value >= previous else -value
        previous = max(previous, value)
    return total
