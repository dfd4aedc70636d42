def shortest(graph, start, goal):
    cost = {node: float("inf") for node in graph}
    cost[start] = 0
    for _ in graph:
        for a, edges in graph.items():
            for b, edge in edges.items():
                cost[b] = min(cost[b], cost[a] + edge)
    return cost[goal]
