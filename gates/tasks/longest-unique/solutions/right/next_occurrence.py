def longest_unique(text: str) -> str:
    n = len(text)
    reach, limit, seen = [0] * n, n, {}
    for i in range(n - 1, -1, -1):
        limit = min(limit, seen.get(text[i], n))
        seen[text[i]] = i
        reach[i] = limit
    start = max(range(n), key=lambda i: (reach[i] - i, -i), default=0)
    return text[start:reach[start]] if n else ""
