import math


def deviation(xs):
    n = len(xs)
    return math.sqrt(abs(sum(x * x for x in xs) / n - (sum(xs) / n) ** 2))
