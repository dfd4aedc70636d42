def balanced(text):
    return all(text.count(a) == text.count(b) for a, b in ("()", "[]", "{}"))
