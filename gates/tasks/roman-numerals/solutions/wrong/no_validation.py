def from_roman(text):
    values = dict(I=1, V=5, X=10, L=50, C=100, D=500, M=1000)
    total = 0
    for i, c in enumerate(text):
        if c not in values:
            return None
        if i + 1 < len(text) and values[c] < values.get(text[i + 1], 0):
            total -= values[c]
        else:
            total += values[c]
    return total or None
