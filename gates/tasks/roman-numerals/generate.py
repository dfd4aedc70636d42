import random

TABLE = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
         (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]


def _roman(n):
    text = ""
    for value, letters in TABLE:
        while n >= value:
            text += letters
            n -= value
    return text


def generate(seed, count):
    rng = random.Random(seed)
    cases = []
    for _ in range(count):
        text = list(_roman(rng.randint(1, 3999)))
        if rng.random() < 0.5:
            change = rng.choice(["double", "shuffle", "insert"])
            place = rng.randrange(len(text))
            if change == "double":
                text.insert(place, text[place])
            elif change == "shuffle":
                rng.shuffle(text)
            else:
                text.insert(place, rng.choice("IVXLCDM"))
        cases.append(["".join(text)])
    return cases
