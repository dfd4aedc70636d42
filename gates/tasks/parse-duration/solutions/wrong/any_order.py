import re


def parse_duration(text):
    if not re.fullmatch(r"([0-9]+[dhms])+", text):
        return None
    seconds = {"d": 86400, "h": 3600, "m": 60, "s": 1}
    return sum(int(n) * seconds[u] for n, u in re.findall(r"([0-9]+)([dhms])", text))
