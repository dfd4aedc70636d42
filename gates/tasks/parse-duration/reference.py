import re

FORM = re.compile(r"(?:([0-9]+)d)?(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+)s)?")


def parse_duration(text):
    found = FORM.fullmatch(text)
    if not text or not found:
        return None
    return sum(int(n or 0) * unit for n, unit in zip(found.groups(), (86400, 3600, 60, 1)))
