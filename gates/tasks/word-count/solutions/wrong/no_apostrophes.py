import re
import sys
from collections import Counter

for word, n in sorted(Counter(re.findall(r"[a-z]+", sys.stdin.read().lower())).items(), key=lambda p: (-p[1], p[0])):
    print(n, word)
