from functools import reduce


def largest(xs):
    """The largest number of a non-empty list."""
    return reduce(lambda a, b: a if a >= b else b, xs)
