import random


def generate(seed, count):
    rng = random.Random(seed)
    cases = []
    for _ in range(count):
        centre = rng.choice([0.0, 1.0, -50.0, 1e6, 1e8])
        spread = rng.choice([0.5, 1.0, 30.0])
        cases.append([[centre + spread * rng.gauss(0, 1) for _ in range(rng.randint(1, 50))]])
    return cases
