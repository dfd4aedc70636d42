import random


def generate(seed, count):
    rng = random.Random(seed)
    cases = []
    for _ in range(count):
        fields = []
        for _ in range(rng.randint(1, 6)):
            raw = "".join(rng.choice(["a", "b", " ", ",", '"', "1", "\u00e9"]) for _ in range(rng.randint(0, 6)))
            if "," in raw or '"' in raw or rng.random() < 0.2:
                fields.append('"' + raw.replace('"', '""') + '"')
            else:
                fields.append(raw)
        cases.append([",".join(fields)])
    return cases
