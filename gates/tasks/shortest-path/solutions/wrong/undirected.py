import heapq


def shortest(graph, start, goal):
    both = {a: dict(edges) for a, edges in graph.items()}
    for a, edges in graph.items():
        for b, edge in edges.items():
            both[b][a] = min(edge, both[b].get(a, edge))
    best, heap = {}, [(0, start)]
    while heap:
        cost, node = heapq.heappop(heap)
        if node in best:
            continue
        best[node] = cost
        for other, edge in both[node].items():
            heapq.heappush(heap, (cost + edge, other))
    return best.get(goal, -1)
