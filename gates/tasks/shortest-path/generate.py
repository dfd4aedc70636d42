import random


def generate(seed, count):
    rng = random.Random(seed)
    cases = []
    for _ in range(count):
        nodes = ["n%d" % i for i in range(rng.randint(1, 12))]
        density = rng.choice([0.1, 0.25, 0.5])
        graph = {
            a: {b: rng.choice([0, 1, 1, 2, 5, 9, 30]) for b in nodes if b != a and rng.random() < density}
            for a in nodes
        }
        cases.append([graph, rng.choice(nodes), rng.choice(nodes)])
    return cases
