import re


def islands(rows):
    count = 0
    for i, row in enumerate(rows):
        for run in re.finditer("#+", row):
            above = rows[i - 1][run.start():run.end()] if i else ""
            if "#" not in above:
                count += 1
    return count
