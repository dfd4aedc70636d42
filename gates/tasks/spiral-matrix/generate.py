import random


def generate(seed, count):
    rng = random.Random(seed)
    cases = []
    for _ in range(count):
        rows, columns = rng.randint(1, 8), rng.randint(1, 8)
        lines = [" ".join(str(rng.randint(-99, 99)) for _ in range(columns)) for _ in range(rows)]
        cases.append("%d %d\n%s\n" % (rows, columns, "\n".join(lines)))
    return cases
