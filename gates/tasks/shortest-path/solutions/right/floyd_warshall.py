def shortest(graph, start, goal):
    nodes = list(graph)
    d = {(a, b): (0 if a == b else graph[a].get(b)) for a in nodes for b in nodes}
    for k in nodes:
        for i in nodes:
            for j in nodes:
                if d[i, k] is not None and d[k, j] is not None:
                    through = d[i, k] + d[k, j]
                    if d[i, j] is None or through < d[i, j]:
                        d[i, j] = through
    return -1 if d[start, goal] is None else d[start, goal]
