import re
from typing import Iterator


class Reader:
    def __init__(self, text: str) -> None:
        self.tokens: Iterator[str] = iter(re.findall(r"\d+|\S", text))
        self.now = next(self.tokens, None)

    def take(self):
        token, self.now = self.now, next(self.tokens, None)
        return token

    def value(self):
        token = self.take()
        if token == "-":
            return -self.value()
        if token == "(":
            inner = self.climb(1)
            self.take()
            return inner
        return int(token)

    def climb(self, lowest):
        left = self.value()
        while self.now in "+-*/" if self.now else False:
            rank = 1 if self.now in "+-" else 2
            if rank < lowest:
                break
            sign = self.take()
            right = self.climb(rank + 1)
            if sign == "+":
                left += right
            elif sign == "-":
                left -= right
            elif sign == "*":
                left *= right
            else:
                negative = (left < 0) != (right < 0)
                left = abs(left) // abs(right)
                left = -left if negative else left
        return left


def evaluate(text):
    return Reader(text).climb(1)
