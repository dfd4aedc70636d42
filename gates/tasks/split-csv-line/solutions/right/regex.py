import re


def split_line(line):
    # With a comma in front of every field, one pattern reads them all, empty ones too.
    found = re.findall(r',(?:"((?:[^"]|"")*)"|([^,]*))', "," + line)
    return [quoted.replace('""', '"') if quoted else plain for quoted, plain in found]
