def split_line(line):
    return [f.strip('"') for f in line.split(",")]
