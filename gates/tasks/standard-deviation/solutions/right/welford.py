from math import sqrt


def deviation(xs: list[float]) -> float:
    mean = m2 = 0.0
    for n, x in enumerate(xs, 1):
        delta = x - mean
        mean += delta / n
        m2 += delta * (x - mean)
    return sqrt(m2 / len(xs))
