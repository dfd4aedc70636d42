import re
from collections import defaultdict

totals = defaultdict(int)
while True:
    try:
        line = input()
    except EOFError:
        break
    for match in re.finditer("[A-Za-z']+", line):
        totals[match.group().lower()] += 1
ranking = sorted(totals.items())
ranking.sort(key=lambda item: item[1], reverse=True)
print("\n".join(f"{n} {w}" for w, n in ranking), end="")
