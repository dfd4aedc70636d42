from collections import deque


def shortest(graph, start, goal):
    known, waiting = {start: 0}, deque([start])
    while waiting:
        node = waiting.popleft()
        for other, edge in graph[node].items():
            if other not in known:
                known[other] = known[node] + edge
                waiting.append(other)
    return known.get(goal, -1)
