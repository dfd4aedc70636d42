"""The one exception of these scripts: something cannot work, and here is what to do about it."""

from __future__ import annotations


class Refusal(Exception):  # noqa: N818 - it is a refusal, said to a person
    """`what` cannot work; `remedy` is one line that a person can act on."""

    def __init__(self, what: str, remedy: str) -> None:
        self.what = what
        self.remedy = remedy
        super().__init__(f"{what}\n    remedy: {remedy}")
