class _Node:
    __slots__ = ("key", "value", "before", "after")

    def __init__(self, key=None, value=None):
        self.key, self.value = key, value
        self.before = self.after = self


class Cache:
    def __init__(self, capacity):
        self.capacity, self.nodes, self.ring = capacity, {}, _Node()

    def _unlink(self, node):
        node.before.after, node.after.before = node.after, node.before

    def _link_last(self, node):
        last = self.ring.before
        node.before, node.after = last, self.ring
        last.after = self.ring.before = node

    def get(self, key):
        node = self.nodes.get(key)
        if node is None:
            return -1
        self._unlink(node)
        self._link_last(node)
        return node.value

    def put(self, key, value):
        node = self.nodes.get(key)
        if node is None:
            if len(self.nodes) == self.capacity:
                oldest = self.ring.after
                self._unlink(oldest)
                del self.nodes[oldest.key]
            node = self.nodes[key] = _Node(key)
        else:
            self._unlink(node)
        node.value = value
        self._link_last(node)


def run_cache(capacity, operations):
    cache = Cache(capacity)
    return [r for r in (getattr(cache, op[0])(*op[1:]) for op in operations) if r is not None]
