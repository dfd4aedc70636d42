import sys
from functools import reduce
from operator import mul

n = int(sys.stdin.readline().strip())
print(reduce(mul, range(1, n + 1), 1))
