import re


def parse_duration(text):
    m = re.fullmatch(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", text)
    if not text or m is None:
        return None
    d, h, mi, s = (int(n or 0) for n in m.groups())
    if mi > 60 or s > 60:
        return None
    return d * 86400 + h * 3600 + mi * 60 + s
