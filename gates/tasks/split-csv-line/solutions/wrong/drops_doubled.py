def split_line(line):
    fields, field, quoted = [], "", False
    for c in line:
        if c == '"':
            quoted = not quoted
        elif c == "," and not quoted:
            fields.append(field)
            field = ""
        else:
            field += c
    return fields + [field]
