def largest(xs):
    for i in range(len(xs) - 1):
        if xs[i] > xs[i + 1]:
            return xs[i]
    return xs[-1]
