is_even = lambda n: divmod(n, 2)[1] == 0
