import re
import sys
from collections import Counter

for word, n in sorted(Counter(re.findall(r"[A-Za-z']+", sys.stdin.read())).items(), key=lambda p: (-p[1], p[0])):
    print(n, word)
