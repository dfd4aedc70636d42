def run_cache(capacity: int, operations: list) -> list:
    cache: dict = {}
    results = []
    for operation in operations:
        match operation:
            case ["get", key]:
                if key in cache:
                    cache[key] = cache.pop(key)
                    results.append(cache[key])
                else:
                    results.append(-1)
            case ["put", key, value]:
                cache.pop(key, None)
                cache[key] = value
                if len(cache) > capacity:
                    del cache[next(iter(cache))]
    return results
