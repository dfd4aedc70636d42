from collections import OrderedDict


def run_cache(capacity, operations):
    held, results = OrderedDict(), []
    for operation in operations:
        key = operation[1]
        if operation[0] == "get":
            results.append(held.get(key, -1))
            if key in held:
                held.move_to_end(key)
        else:
            held[key] = operation[2]
            held.move_to_end(key)
            if len(held) > capacity:
                held.popitem(last=False)
    return results
