def islands(rows):
    parent = {}

    def root(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    for r, row in enumerate(rows):
        for c, cell in enumerate(row):
            if cell != "#":
                continue
            parent[r, c] = (r, c)
            for near in ((r - 1, c), (r, c - 1)):
                if near in parent:
                    parent[root(near)] = root((r, c))
    return sum(parent[x] == x for x in parent)
