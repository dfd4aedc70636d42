import sys

lines = sys.stdin.read().splitlines()
rows = int(lines[0].split()[0])
matrix = [line.split() for line in lines[1 : rows + 1]]
out = []
while matrix:
    out += matrix.pop(0)
    matrix = [list(row) for row in zip(*matrix)][::-1]
print(" ".join(out))
