from collections import deque


def longest_unique(text):
    window, members, best = deque(), set(), ""
    start = best_start = best_length = 0
    for i, c in enumerate(text):
        if c in members:
            while True:
                gone = window.popleft()
                members.discard(gone)
                start += 1
                if gone == c:
                    break
        window.append(c)
        members.add(c)
        if len(window) > best_length:
            best_start, best_length = start, len(window)
    return text[best_start : best_start + best_length]
