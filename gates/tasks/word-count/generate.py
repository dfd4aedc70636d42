import random


def generate(seed, count):
    rng = random.Random(seed)
    words = ["the", "The", "a", "fox", "FOX", "don't", "it's", "zebra", "Apple", "x"]
    gaps = [" ", "  ", "\n", ", ", ". ", "\t", "-", "!\n", "42"]
    return [
        "".join(rng.choice(words) + rng.choice(gaps) for _ in range(rng.randint(0, 40)))
        for _ in range(count)
    ]
