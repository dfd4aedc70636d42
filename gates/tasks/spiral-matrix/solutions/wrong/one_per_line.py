import sys

lines = sys.stdin.read().splitlines()
rows = int(lines[0].split()[0])
m = [line.split() for line in lines[1:rows + 1]]
out = []
while m:
    out += m.pop(0)
    m = [list(row) for row in zip(*m)][::-1]
print("\n".join(out))
