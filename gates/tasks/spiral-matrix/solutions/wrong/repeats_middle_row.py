import sys

data = sys.stdin.read().split()
h, w = int(data[0]), int(data[1])
cells = data[2:]
t, b, l, r = 0, h - 1, 0, w - 1
out = []
while t <= b and l <= r:
    out += [cells[t * w + c] for c in range(l, r + 1)]
    out += [cells[i * w + r] for i in range(t + 1, b + 1)]
    out += [cells[b * w + c] for c in range(r - 1, l - 1, -1)]
    out += [cells[i * w + l] for i in range(b - 1, t, -1)]
    t, b, l, r = t + 1, b - 1, l + 1, r - 1
print(*out)
