import math

print(int(math.gamma(int(input()) + 1)))
