from collections import deque


def islands(rows: list[str]) -> int:
    if not rows:
        return 0
    height, width = len(rows), len(rows[0])
    seen = [[False] * width for _ in range(height)]
    total = 0
    for r in range(height):
        for c in range(width):
            if rows[r][c] != "#" or seen[r][c]:
                continue
            total += 1
            seen[r][c] = True
            queue = deque([(r, c)])
            while queue:
                y, x = queue.popleft()
                for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                    ny, nx = y + dy, x + dx
                    if 0 <= ny < height and 0 <= nx < width and rows[ny][nx] == "#" and not seen[ny][nx]:
                        seen[ny][nx] = True
                        queue.append((ny, nx))
    return total
