def _field(chars):
    """Reads one field from a list used as a stack; returns it and whether another follows."""
    out = []
    if chars and chars[-1] == '"':
        chars.pop()
        while True:
            c = chars.pop()
            if c == '"':
                if chars and chars[-1] == '"':
                    chars.pop()
                else:
                    break
            out.append(c)
        more = bool(chars)
        if more:
            chars.pop()
        return "".join(out), more
    while chars:
        c = chars.pop()
        if c == ",":
            return "".join(out), True
        out.append(c)
    return "".join(out), False


def split_line(line):
    chars, fields, more = list(reversed(line)), [], True
    while more:
        field, more = _field(chars)
        fields.append(field)
    return fields
