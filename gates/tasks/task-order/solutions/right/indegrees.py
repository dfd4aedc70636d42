from bisect import insort
from collections import Counter, defaultdict


def order(needs: dict) -> list | None:
    after, missing = defaultdict(list), Counter()
    for name, before in needs.items():
        for other in set(before):
            after[other].append(name)
            missing[name] += 1
    ready = sorted(name for name in needs if not missing[name])
    result = []
    while ready:
        name = ready.pop(0)
        result.append(name)
        for other in after[name]:
            missing[other] -= 1
            if missing[other] == 0:
                insort(ready, other)
    return result if len(result) == len(needs) else None
