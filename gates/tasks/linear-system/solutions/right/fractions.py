from fractions import Fraction


def solve(a, b):
    n = len(a)
    m = [[Fraction(v) for v in row] + [Fraction(y)] for row, y in zip(a, b)]
    for i in range(n):
        pivot = next((r for r in range(i, n) if m[r][i] != 0), None)
        if pivot is None:
            return None
        m[i], m[pivot] = m[pivot], m[i]
        for r in range(n):
            if r != i:
                f = m[r][i] / m[i][i]
                m[r] = [u - f * v for u, v in zip(m[r], m[i])]
    return [float(m[i][n] / m[i][i]) for i in range(n)]
