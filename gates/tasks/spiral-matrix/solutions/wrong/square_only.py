import sys

lines = sys.stdin.read().splitlines()
n = int(lines[0].split()[0])
m = [line.split()[:n] for line in lines[1:n + 1]]
out = []
while m:
    out += m.pop(0)
    m = [list(row) for row in zip(*m)][::-1]
print(*out)
