import heapq


def order(needs):
    waiting = {name: set(before) for name, before in needs.items()}
    ready = [name for name, before in waiting.items() if not before]
    heapq.heapify(ready)
    done = []
    while ready:
        name = heapq.heappop(ready)
        done.append(name)
        for other, before in waiting.items():
            if name in before:
                before.remove(name)
                if not before:
                    heapq.heappush(ready, other)
    return done if len(done) == len(needs) else None
