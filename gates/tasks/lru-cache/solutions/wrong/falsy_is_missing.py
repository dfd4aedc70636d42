def run_cache(capacity, operations):
    cache, out = {}, []
    for what, key, *value in operations:
        if what == "get":
            found = cache.pop(key, None)
            if found:
                cache[key] = found
            out.append(found or -1)
        else:
            cache.pop(key, None)
            cache[key] = value[0]
            if len(cache) > capacity:
                del cache[next(iter(cache))]
    return out
