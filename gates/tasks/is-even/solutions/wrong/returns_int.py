def is_even(n):
    return 1 - n % 2
