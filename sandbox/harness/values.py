"""Writes a plain value as the wire's tagged text. Only exact built-in types are plain, so no method of an
answer's class ever runs here.

none n;  bool b0;  int i-0x1f;  float f0x1.8p+1;  str s<hex of UTF-8>;  bytes y<hex>;  and nested: list l[..];
tuple t[..];  set S[..];  frozenset Z[..];  dict d[key value ..];
"""

DEPTH = 64

SCALARS = frozenset({type(None), bool, int, float, str, bytes})
CONTAINERS = {list: "l[", tuple: "t[", set: "S[", frozenset: "Z["}


class NotPlain(Exception):
    """The value is outside the contract; the text says why and never holds the value's own words."""


class TooLarge(Exception):
    pass


def encode(value, budget, _type=type, _hex=float.hex, _name=type.__dict__["__name__"].__get__):
    """Text of `value` as ASCII bytes; raises NotPlain, or TooLarge beyond `budget` bytes."""
    out = []
    left = [budget]

    def put(text):
        left[0] -= len(text)
        if left[0] < 0:
            raise TooLarge
        out.append(text)

    def scalar(value, kind):
        if value is None:
            return "n;"
        if kind is bool:
            return "b1;" if value else "b0;"
        if kind is float:
            return "f" + _hex(value) + ";"
        # Text of these grows with the value: asked for only where there is room for it.
        if (value.bit_length() // 4 if kind is int else 2 * len(value)) > left[0]:
            raise TooLarge
        if kind is int:
            return "i" + hex(value) + ";"
        if kind is str:
            return "s" + value.encode("utf-8", "surrogatepass").hex() + ";"
        return "y" + value.hex() + ";"

    def write(value, depth):
        kind = _type(value)
        if depth > DEPTH:
            raise NotPlain("the value is nested deeper than %d" % DEPTH)
        if kind in SCALARS:
            put(scalar(value, kind))
        elif kind in CONTAINERS:
            put(CONTAINERS[kind])
            for item in value:
                write(item, depth + 1)
            put("];")
        elif kind is dict:
            put("d[")
            for key, item in value.items():
                write(key, depth + 1)
                write(item, depth + 1)
            put("];")
        else:
            raise NotPlain("a value of type %s is not plain data" % _printable(_name(kind)))

    write(value, 0)
    return "".join(out).encode("ascii")


def _printable(name):
    return "".join(c if c.isprintable() and ord(c) < 0x3000 else "?" for c in str(name)[:80])
