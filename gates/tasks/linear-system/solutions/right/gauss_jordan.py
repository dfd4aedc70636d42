def solve(a, b):
    n = len(a)
    m = [list(map(float, row)) + [float(y)] for row, y in zip(a, b)]
    for i in range(n):
        best = i
        for r in range(i + 1, n):
            if abs(m[r][i]) > abs(m[best][i]):
                best = r
        if abs(m[best][i]) < 1e-9:
            return None
        m[i], m[best] = m[best], m[i]
        p = m[i][i]
        m[i] = [v / p for v in m[i]]
        for r in range(n):
            if r != i and m[r][i] != 0:
                f = m[r][i]
                m[r] = [u - f * v for u, v in zip(m[r], m[i])]
    return [row[-1] for row in m]
