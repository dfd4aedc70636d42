def largest(xs):
    return max(xs)
