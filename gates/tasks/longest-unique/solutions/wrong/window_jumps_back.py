def longest_unique(text):
    last, start, best = {}, 0, ""
    for end, c in enumerate(text):
        if c in last:
            start = last[c] + 1
        last[c] = end
        if end + 1 - start > len(best):
            best = text[start:end + 1]
    return best
