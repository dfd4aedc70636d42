import math

print(f"{math.factorial(int(input())):,}")
