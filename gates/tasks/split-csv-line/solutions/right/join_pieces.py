def split_line(line: str) -> list[str]:
    fields: list[str] = []
    open_field = None
    for piece in line.split(","):
        current = piece if open_field is None else open_field + "," + piece
        if current.startswith('"') and current.count('"') % 2:
            open_field = current
            continue
        open_field = None
        if current.startswith('"'):
            current = current[1:-1].replace('""', '"')
        fields.append(current)
    return fields
