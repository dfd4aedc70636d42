def islands(rows):
    if not rows:
        return 0
    seen, count = set(), 0
    for r in range(len(rows)):
        for c in range(len(rows[0])):
            if rows[r][c] != "#" or (r, c) in seen:
                continue
            count += 1
            waiting = [(r, c)]
            seen.add((r, c))
            while waiting:
                y, x = waiting.pop()
                for ny, nx in ((y - 1, x), (y, x - 1), (y + 1, x), (y, x + 1)):
                    ny, nx = ny % len(rows), nx % len(rows[0])
                    if rows[ny][nx] == "#" and (ny, nx) not in seen:
                        seen.add((ny, nx))
                        waiting.append((ny, nx))
    return count
