import heapq


def shortest(graph, start, goal):
    best, heap = {}, [(0, start)]
    while heap:
        cost, node = heapq.heappop(heap)
        if node in best:
            continue
        best[node] = cost
        for other, edge in graph[node].items():
            if edge:
                heapq.heappush(heap, (cost + edge, other))
    return best.get(goal, -1)
