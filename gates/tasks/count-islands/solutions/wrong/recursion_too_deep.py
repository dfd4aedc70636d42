def islands(rows):
    land = {(r, c) for r, row in enumerate(rows) for c, cell in enumerate(row) if cell == "#"}

    def sink(r, c):
        if (r, c) in land:
            land.remove((r, c))
            for near in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
                sink(*near)

    count = 0
    while land:
        count += 1
        sink(*next(iter(land)))
    return count
