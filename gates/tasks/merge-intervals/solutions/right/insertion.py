def merge_intervals(intervals):
    result = []
    for start, end in intervals:
        apart = []
        for s, e in result:
            if e < start or end < s:
                apart.append([s, e])
            else:
                start, end = min(s, start), max(e, end)
        apart.append([start, end])
        result = apart
    return sorted(result)
