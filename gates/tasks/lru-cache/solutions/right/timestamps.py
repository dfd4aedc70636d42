def run_cache(capacity, operations):
    values, used, out = {}, {}, []
    for now, (what, key, *value) in enumerate(operations):
        if what == "get":
            out.append(values.get(key, -1))
            if key in values:
                used[key] = now
            continue
        if key not in values and len(values) == capacity:
            oldest = min(values, key=used.__getitem__)
            del values[oldest]
        values[key] = value[0]
        used[key] = now
    return out
