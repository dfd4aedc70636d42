def islands(rows):
    land = {(r, c) for r, row in enumerate(rows) for c, cell in enumerate(row) if cell == "#"}
    count = 0
    while land:
        count += 1
        waiting = [land.pop()]
        while waiting:
            r, c = waiting.pop()
            for near in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
                if near in land:
                    land.remove(near)
                    waiting.append(near)
    return count
