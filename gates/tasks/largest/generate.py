import random


def generate(seed, count):
    rng = random.Random(seed)
    cases = []
    for _ in range(count):
        low, high = rng.choice([(-100, -1), (-50, 50), (0, 10), (-(10**20), 10**20)])
        cases.append([[rng.randint(low, high) for _ in range(rng.randint(1, 40))]])
    return cases
