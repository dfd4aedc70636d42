def deviation(xs):
    n = len(xs)
    mean = sum(xs) / n
    return (sum((x - mean) * (x - mean) for x in xs) / n) ** 0.5
