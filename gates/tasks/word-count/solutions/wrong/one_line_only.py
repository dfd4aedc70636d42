import re
from collections import Counter

try:
    line = input()
except EOFError:
    line = ""
for word, n in sorted(Counter(re.findall(r"[a-z']+", line.lower())).items(), key=lambda p: (-p[1], p[0])):
    print(n, word)
