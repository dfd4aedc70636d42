import random


def _nested(rng, depth):
    if depth == 0:
        return rng.choice(["", "x", "1+2"])
    opening, closing = rng.choice(["()", "[]", "{}"])
    return opening + _nested(rng, depth - 1) + closing + _nested(rng, rng.randint(0, depth - 1))


def generate(seed, count):
    rng = random.Random(seed)
    cases = []
    for _ in range(count):
        text = list(_nested(rng, rng.randint(0, 6)))
        change = rng.choice(["keep", "keep", "drop", "swap", "replace"])
        if text and change != "keep":
            place = rng.randrange(len(text))
            if change == "drop":
                del text[place]
            elif change == "swap":
                other = rng.randrange(len(text))
                text[place], text[other] = text[other], text[place]
            else:
                text[place] = rng.choice("()[]{}")
        cases.append(["".join(text)])
    return cases
