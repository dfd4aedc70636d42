import graphlib


def order(needs):
    sorter = graphlib.TopologicalSorter(needs)
    try:
        sorter.prepare()
    except graphlib.CycleError:
        return None
    if any(name in before for name, before in needs.items()):
        return None
    ready, result = [], []
    while sorter.is_active():
        ready = sorted([*ready, *sorter.get_ready()])
        name = ready.pop(0)
        result.append(name)
        sorter.done(name)
    return result
