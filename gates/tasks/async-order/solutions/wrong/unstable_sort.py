def finish_order(jobs):
    return [name for steps, name in sorted(((s, n) for n, s in jobs), key=lambda p: (p[0], p[1]))]
