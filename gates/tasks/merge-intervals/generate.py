import random


def generate(seed, count):
    rng = random.Random(seed)
    cases = []
    for _ in range(count):
        width = rng.choice([5, 30, 1000])
        intervals = []
        for _ in range(rng.randint(0, 12)):
            start = rng.randint(-width, width)
            intervals.append([start, start + rng.randint(0, max(1, width // 4))])
        cases.append([intervals])
    return cases
