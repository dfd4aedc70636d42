def longest_unique(text):
    last, start, best = {}, 0, (0, 0)
    for end, c in enumerate(text):
        start = max(start, last.get(c, -1) + 1)
        last[c] = end
        if end + 1 - start >= best[1] - best[0]:
            best = (start, end + 1)
    return text[best[0]:best[1]]
