from collections import deque
from typing import Dict


def shortest(graph: Dict[str, Dict[str, int]], start: str, goal: str) -> int:
    known = {start: 0}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        for other, edge in graph[node].items():
            cost = known[node] + edge
            if other not in known or cost < known[other]:
                known[other] = cost
                waiting.append(other)
    return known.get(goal, -1)
