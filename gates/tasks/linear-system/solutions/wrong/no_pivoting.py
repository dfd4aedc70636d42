def solve(a, b):
    n = len(a)
    m = [[*row, y] for row, y in zip(a, b)]
    for i in range(n):
        if abs(m[i][i]) < 1e-9:
            return None
        for r in range(i + 1, n):
            f = m[r][i] / m[i][i]
            m[r] = [u - f * v for u, v in zip(m[r], m[i])]
    x = [0.0] * n
    for r in reversed(range(n)):
        x[r] = (m[r][n] - sum(m[r][c] * x[c] for c in range(r + 1, n))) / m[r][r]
    return x
