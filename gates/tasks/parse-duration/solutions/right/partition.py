def parse_duration(text):
    total, rest, seen = 0, text, False
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        if unit in rest:
            number, _, rest = rest.partition(unit)
            if not (number.isascii() and number.isdigit()):
                return None
            total += int(number) * size
            seen = True
    return total if seen and rest == "" else None
