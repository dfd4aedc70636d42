import re


def parse_duration(text):
    seconds = {"d": 86400, "h": 3600, "m": 60, "s": 1}
    pairs = re.findall(r"([0-9]+)([dhms])", text)
    return sum(int(n) * seconds[u] for n, u in pairs) if pairs else None
