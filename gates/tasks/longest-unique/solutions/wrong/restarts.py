def longest_unique(text):
    best = current = ""
    for c in text:
        current = c if c in current else current + c
        if len(current) > len(best):
            best = current
    return best
