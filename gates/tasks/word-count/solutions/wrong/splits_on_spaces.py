import sys
from collections import Counter

for word, n in sorted(Counter(sys.stdin.read().lower().split()).items(), key=lambda p: (-p[1], p[0])):
    print(n, word)
