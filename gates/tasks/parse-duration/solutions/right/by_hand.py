def parse_duration(text):
    units = [("d", 86400), ("h", 3600), ("m", 60), ("s", 1)]
    total, digits, allowed = 0, "", 0
    if not text:
        return None
    for c in text:
        if c in "0123456789":
            digits += c
            continue
        for place in range(allowed, len(units)):
            if units[place][0] == c:
                break
        else:
            return None
        if not digits:
            return None
        total += int(digits) * units[place][1]
        digits, allowed = "", place + 1
    return None if digits else total
