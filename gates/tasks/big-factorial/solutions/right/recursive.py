import sys

sys.setrecursionlimit(5000)


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


print(factorial(int(sys.stdin.read())))
