def longest_unique(text):
    last, start, best = {}, 0, 0
    for end, c in enumerate(text):
        start = max(start, last.get(c, -1) + 1)
        last[c] = end
        best = max(best, end + 1 - start)
    return best
