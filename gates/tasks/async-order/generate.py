import random


def generate(seed, count):
    rng = random.Random(seed)
    return [
        [[["j%d" % i, rng.randint(0, 6)] for i in range(rng.randint(0, 12))]]
        for _ in range(count)
    ]
