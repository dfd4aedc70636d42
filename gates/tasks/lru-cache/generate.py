import random


def generate(seed, count):
    rng = random.Random(seed)
    cases = []
    for _ in range(count):
        keys = "abcdefg"[: rng.randint(1, 7)]
        operations = []
        for _ in range(rng.randint(0, 40)):
            if rng.random() < 0.5:
                operations.append(["get", rng.choice(keys)])
            else:
                operations.append(["put", rng.choice(keys), rng.randint(0, 99)])
        cases.append([rng.randint(1, 5), operations])
    return cases
