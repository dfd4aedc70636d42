def islands(rows):
    land = {(r, c) for r, row in enumerate(rows) for c, cell in enumerate(row) if cell == "#"}
    count = 0
    for cell in sorted(land):
        if cell not in land:
            continue
        count += 1
        waiting = [cell]
        land.remove(cell)
        while waiting:
            r, c = waiting.pop()
            for near in ((r + 1, c), (r, c + 1)):
                if near in land:
                    land.remove(near)
                    waiting.append(near)
    return count
