import random


def generate(seed, count):
    rng = random.Random(seed)
    cases = []
    for _ in range(count):
        n = rng.randint(1, 5)
        a = [[float(rng.randint(-5, 5)) for _ in range(n)] for _ in range(n)]
        kind = rng.choice(["dominant", "dominant", "permuted", "singular"])
        for i in range(n):
            a[i][i] = float(20 + rng.randint(0, 5))
        if kind == "permuted":
            rng.shuffle(a)
        if kind == "singular" and n > 1:
            source, target = rng.sample(range(n), 2)
            a[target] = [2.0 * v for v in a[source]]
        cases.append([a, [float(rng.randint(-20, 20)) for _ in range(n)]])
    return cases
