def longest_unique(text):
    best = ""
    for i in range(len(text)):
        for j in range(i + 1, len(text) + 1):
            piece = text[i:j]
            if len(set(piece)) == len(piece) and len(piece) > len(best):
                best = piece
    return best
