from fractions import Fraction


def deviation(xs):
    exact = [Fraction(x) for x in xs]
    mean = sum(exact) / len(exact)
    return float(sum((x - mean) ** 2 for x in exact) / len(exact)) ** 0.5
