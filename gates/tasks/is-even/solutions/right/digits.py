def is_even(n):
    if str(n)[-1] in "02468":
        return True
    else:
        return False
