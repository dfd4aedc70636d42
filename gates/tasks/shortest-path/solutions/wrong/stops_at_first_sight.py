import heapq


def shortest(graph, start, goal):
    if start == goal:
        return 0
    seen, heap = {start}, [(0, start)]
    while heap:
        cost, node = heapq.heappop(heap)
        for other, edge in graph[node].items():
            if other == goal:
                return cost + edge
            if other not in seen:
                seen.add(other)
                heapq.heappush(heap, (cost + edge, other))
    return -1
