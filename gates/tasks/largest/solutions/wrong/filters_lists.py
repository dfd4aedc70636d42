def largest(xs):
    return max([x for x in xs if isinstance(x, list)], default=None)
