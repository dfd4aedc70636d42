def shortest(graph, start, goal):
    infinity = float("inf")
    cost = {node: infinity for node in graph}
    cost[start] = 0
    for _ in graph:
        for a, edges in graph.items():
            for b, edge in edges.items():
                if cost[a] + edge < cost[b]:
                    cost[b] = cost[a] + edge
    return -1 if cost[goal] == infinity else cost[goal]
