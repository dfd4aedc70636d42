def solve(a, b):
    n = len(a)
    if any(abs(a[i][i]) < 1e-9 for i in range(n)):
        return None
    x = [0.0] * n
    for _ in range(8):
        for i in range(n):
            x[i] = (b[i] - sum(a[i][j] * x[j] for j in range(n) if j != i)) / a[i][i]
    return x
