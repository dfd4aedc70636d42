import re


def parse_duration(text):
    text = text.replace(" ", "")
    m = re.fullmatch(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", text)
    if not text or m is None:
        return None
    return sum(int(n or 0) * u for n, u in zip(m.groups(), (86400, 3600, 60, 1)))
