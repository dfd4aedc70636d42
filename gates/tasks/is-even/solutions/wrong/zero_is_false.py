def is_even(n):
    return n and n % 2 == 0
