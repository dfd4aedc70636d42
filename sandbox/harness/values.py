"""Writes a plain value as the wire's tagged text. Only exact built-in types are plain: no method of an answer runs.

n;  b0;  i-0x1f;  f0x1.8p+1;  s<hex of UTF-8>;  y<hex>;  l[..];  t[..];  S[..]; (set)  Z[..]; (frozenset)  d[k v ..];
"""

DEPTH = 64

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

    def write(value, depth):
        kind = _type(value)
        if depth > DEPTH:
            raise NotPlain("the value is nested deeper than %d" % DEPTH)
        if value is None:
            put("n;")
        elif kind is bool:
            put("b1;" if value else "b0;")
        elif kind is int:
            if value.bit_length() > 4 * left[0]:
                raise TooLarge
            put("i" + hex(value) + ";")
        elif kind is float:
            put("f" + _hex(value) + ";")
        elif kind is str or kind is bytes:
            if 2 * len(value) > left[0]:
                raise TooLarge
            put("s" + value.encode("utf-8", "surrogatepass").hex() + ";" if kind is str else "y" + value.hex() + ";")
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
