import random


def generate(seed, count):
    rng = random.Random(seed)
    return [[rng.randint(-10 ** rng.randint(1, 30), 10 ** rng.randint(1, 30))] for _ in range(count)]
