import sys

first, *rest = sys.stdin.read().strip().split("\n")
h, w = (int(x) for x in first.split())
m = [row.split() for row in rest]
out = []
for k in range((min(h, w) + 1) // 2):
    t, b, l, r = k, h - 1 - k, k, w - 1 - k
    out.extend(m[t][l:r + 1])
    out.extend(m[i][r] for i in range(t + 1, b + 1))
    if b > t:
        out.extend(m[b][i] for i in range(r - 1, l - 1, -1))
    if r > l:
        out.extend(m[i][l] for i in range(b - 1, t, -1))
print(" ".join(out))
