def deviation(xs):
    mean = sum(xs) / len(xs)
    return sum(abs(x - mean) for x in xs) / len(xs)
