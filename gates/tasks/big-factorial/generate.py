import random


def generate(seed, count):
    rng = random.Random(seed)
    return ["%d\n" % n for n in [1, 2000, 1999, *(rng.randint(0, 2000) for _ in range(count - 3))]]
