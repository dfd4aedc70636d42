import random


def generate(seed, count):
    rng = random.Random(seed)
    cases = []
    for _ in range(count):
        units = [u for u in "dhms" if rng.random() < 0.6]
        parts = [str(rng.choice([0, 1, 7, 24, 59, 60, 61, 99, 1000])) + u for u in units]
        if parts and rng.random() < 0.45:
            change = rng.choice(["shuffle", "space", "double", "sign", "unit", "bare", "float"])
            place = rng.randrange(len(parts))
            if change == "shuffle":
                rng.shuffle(parts)
            elif change == "space":
                parts[place] += " "
            elif change == "double":
                parts.insert(place, parts[place])
            elif change == "sign":
                parts[place] = rng.choice("+-") + parts[place]
            elif change == "unit":
                parts[place] = parts[place][:-1] + rng.choice(["H", "w", "sec"])
            elif change == "bare":
                parts[place] = rng.choice([parts[place][:-1], parts[place][-1]])
            else:
                parts[place] = "1.5" + parts[place][-1]
        cases.append(["".join(parts)])
    return cases
