def order(needs):
    result, state = [], {}

    def visit(name):
        if state.get(name) == 1:
            return False
        if state.get(name) == 2:
            return True
        state[name] = 1
        if not all(visit(other) for other in sorted(needs[name])):
            return False
        state[name] = 2
        result.append(name)
        return True

    return result if all(visit(name) for name in sorted(needs)) else None
