rows, columns = map(int, input().split())
grid = {}
for r in range(rows):
    for c, value in enumerate(input().split()):
        grid[complex(c, r)] = value
place, step, out = complex(-1, 0), 1, []
while grid:
    if place + step not in grid:
        step *= 1j
    place += step
    out.append(grid.pop(place))
print(" ".join(out))
