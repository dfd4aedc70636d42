def merge_intervals(intervals: list[list[int]]) -> list[list[int]]:
    """Count how many intervals are open at each point."""
    # Openings sort before closings at the same point, so touching intervals stay together.
    events = sorted([(s, 0) for s, _ in intervals] + [(e, 1) for _, e in intervals])
    merged, depth, begin = [], 0, None
    for point, closing in events:
        if not closing:
            if depth == 0:
                begin = point
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                merged.append([begin, point])
    return merged
