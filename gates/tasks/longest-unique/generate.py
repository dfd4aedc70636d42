import random


def generate(seed, count):
    rng = random.Random(seed)
    cases = [["".join(chr(0x100 + i % 2000) for i in range(100_000))]]
    while len(cases) < count:
        letters = "abcdefghij"[: rng.randint(1, 10)]
        cases.append(["".join(rng.choice(letters) for _ in range(rng.randint(0, 30)))])
    return cases
