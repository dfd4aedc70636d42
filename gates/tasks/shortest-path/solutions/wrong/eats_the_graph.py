def shortest(graph, start, goal):
    cost = {start: 0}
    open_nodes = {start}
    while open_nodes:
        node = min(open_nodes, key=cost.get)
        open_nodes.remove(node)
        for other, edge in graph.pop(node, {}).items():
            if cost[node] + edge < cost.get(other, float("inf")):
                cost[other] = cost[node] + edge
                open_nodes.add(other)
    return cost.get(goal, -1)
