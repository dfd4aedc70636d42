def is_even(n):
    return n / 2 == int(n / 2)
