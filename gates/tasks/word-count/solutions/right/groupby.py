import itertools
import string
import sys

letters = set(string.ascii_letters + "'")
text = "".join(c.lower() if c in letters else " " for c in sys.stdin.read())
runs = [(-len(list(same)), word) for word, same in itertools.groupby(sorted(text.split()))]
for n, word in sorted(runs):
    print(-n, word)
