import random


def generate(seed, count):
    rng = random.Random(seed)
    cases = []
    for _ in range(count):
        names = rng.sample("abcdefghijklmnopqrstuvwxyz", rng.randint(0, 10))
        needs = {}
        for place, name in enumerate(names):
            needs[name] = [other for other in names[:place] if rng.random() < 0.3]
        if names and rng.random() < 0.3:
            needs[rng.choice(names)].append(rng.choice(names))
        items = list(needs.items())
        rng.shuffle(items)
        cases.append([dict(items)])
    return cases
