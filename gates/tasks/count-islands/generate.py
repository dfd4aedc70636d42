import random


def generate(seed, count):
    rng = random.Random(seed)
    cases = []
    for place in range(count):
        if place < 3:
            cases.append([["#" * 60] * 60 if place == 0 else ["#" * 60 if r % 2 == place % 2 else "." * 60 for r in range(60)]])
            continue
        height, width, land = rng.randint(1, 15), rng.randint(1, 15), rng.choice([0.2, 0.5, 0.7])
        cases.append([["".join("#" if rng.random() < land else "." for _ in range(width)) for _ in range(height)]])
    return cases
