import re
import sys
from collections import Counter

counts = Counter(re.findall(r"[a-z']+", sys.stdin.read().lower()))
for word, n in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
    print(n, word)
