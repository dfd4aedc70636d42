def islands(rows):
    land = {(r, c) for r, row in enumerate(rows) for c, cell in enumerate(row) if cell == "#"}
    count = 0
    while land:
        count += 1
        waiting = [land.pop()]
        while waiting:
            r, c = waiting.pop()
            for dr in (-1, 0, 1):
                for dc in (-1, 0, 1):
                    near = (r + dr, c + dc)
                    if near in land:
                        land.remove(near)
                        waiting.append(near)
    return count
