class _Span:
    def __init__(self, start, end):
        self.start, self.end = start, end

    def absorb(self, other):
        if other.start > self.end:
            return False
        self.end = max(self.end, other.end)
        return True


def merge_intervals(intervals):
    spans = []
    for span in sorted((_Span(*pair) for pair in intervals), key=lambda s: (s.start, s.end)):
        if not (spans and spans[-1].absorb(span)):
            spans.append(span)
    return [[s.start, s.end] for s in spans]
