def run_cache(capacity, operations):
    cache, out = {}, []
    for what, key, *value in operations:
        if what == "get":
            if key in cache:
                cache[key] = cache.pop(key)
            out.append(cache.get(key, -1))
        else:
            cache[key] = value[0]
            if len(cache) > capacity:
                del cache[next(iter(cache))]
    return out
