def merge_intervals(intervals):
    merged = []
    for interval in sorted(intervals):
        if merged and interval[0] <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], interval[1])
        else:
            merged.append(interval)
    return merged
