import re
import sys
from collections import Counter

for word, n in Counter(re.findall(r"[a-z']+", sys.stdin.read().lower())).most_common():
    print(n, word)
