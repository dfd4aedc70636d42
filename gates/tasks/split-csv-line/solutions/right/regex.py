import re


def split_line(line):
    found = re.findall(r'(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))', "," + line if line.startswith(",") else line)
    fields = [quoted.replace('""', '"') if quoted else plain for quoted, plain in found]
    if line.startswith(","):
        return fields
    return fields or [""]
