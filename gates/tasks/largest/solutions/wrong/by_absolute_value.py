def largest(xs):
    return max(xs, key=abs)
