def split_line(line):
    fields, field, quoted, i = [], "", False, 0
    while i < len(line):
        c = line[i]
        if quoted and c == '"' and line[i + 1 : i + 2] == '"':
            field, i = field + '"', i + 1
        elif c == '"':
            quoted = not quoted
        elif c == "," and not quoted:
            fields.append(field.strip())
            field = ""
        else:
            field += c
        i += 1
    return fields + [field.strip()]
