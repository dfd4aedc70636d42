import re


def parse_duration(text: str):
    pairs = re.findall(r"([0-9]+)([dhms])", text)
    if not pairs or "".join(n + u for n, u in pairs) != text:
        return None
    order = ["dhms".index(u) for _, u in pairs]
    if any(a >= b for a, b in zip(order, order[1:])):
        return None
    seconds = {"d": 86400, "h": 3600, "m": 60, "s": 1}
    return sum(int(n) * seconds[u] for n, u in pairs)
