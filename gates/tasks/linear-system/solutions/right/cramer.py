def _determinant(m):
    if len(m) == 1:
        return m[0][0]
    return sum(
        (-1) ** c * m[0][c] * _determinant([row[:c] + row[c + 1:] for row in m[1:]])
        for c in range(len(m)) if m[0][c]
    )


def solve(a: list[list[float]], b: list[float]):
    whole = _determinant(a)
    if abs(whole) < 1e-9:
        return None
    return [
        _determinant([row[:c] + [y] + row[c + 1:] for row, y in zip(a, b)]) / whole
        for c in range(len(a))
    ]
