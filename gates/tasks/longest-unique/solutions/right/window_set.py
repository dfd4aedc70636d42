def longest_unique(text):
    inside, left, best_start, best_length = set(), 0, 0, 0
    for right in range(len(text)):
        while text[right] in inside:
            inside.remove(text[left])
            left += 1
        inside.add(text[right])
        if right - left + 1 > best_length:
            best_start, best_length = left, right - left + 1
    return text[best_start:best_start + best_length]
