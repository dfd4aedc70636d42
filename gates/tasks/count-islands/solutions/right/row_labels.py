def islands(rows):
    names, count, above = {}, 0, []

    def find(n):
        while n in names:
            n = names[n]
        return n

    fresh = 0
    for row in rows:
        labels = []
        for c, cell in enumerate(row):
            if cell == ".":
                labels.append(None)
                continue
            near = {find(n) for n in (above[c] if above else None, labels[-1] if labels else None) if n is not None}
            if not near:
                fresh += 1
                count += 1
                labels.append(fresh)
            else:
                first = near.pop()
                for other in near:
                    names[other] = first
                    count -= 1
                labels.append(first)
        above = labels
    return count
