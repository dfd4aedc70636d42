import random


def _expression(rng, depth):
    """Text and value of a random expression."""
    if depth == 0 or rng.random() < 0.2:
        n = rng.choice([0, 1, 2, 3, 7, 10, 99, 1000])
        return str(n), n
    kind = rng.choice(["binary", "binary", "binary", "group", "minus"])
    if kind == "group":
        text, value = _expression(rng, depth - 1)
        return "(" + text + ")", value
    if kind == "minus":
        text, value = _expression(rng, depth - 1)
        return "-(" + text + ")", -value
    left, a = _expression(rng, depth - 1)
    right, b = _expression(rng, depth - 1)
    sign = rng.choice("+-*/")
    if sign == "/" and b == 0:
        sign = "+"
    space = rng.choice(["", " ", "  "])
    value = {"+": a + b, "-": a - b, "*": a * b}.get(sign)
    if value is None:
        value = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return "(" + left + ")" + space + sign + space + "(" + right + ")", value


def _flat(rng):
    terms = [str(rng.randint(1, 20)) for _ in range(rng.randint(2, 7))]
    text = terms[0]
    for term in terms[1:]:
        text += rng.choice(["+", "-", " * ", "/", " - ", "+-", "*-", " / "]) + term
    return text


def generate(seed, count):
    rng = random.Random(seed)
    return [[_flat(rng) if rng.random() < 0.5 else _expression(rng, rng.randint(1, 5))[0]] for _ in range(count)]
