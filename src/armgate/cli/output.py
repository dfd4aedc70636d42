"""Where commands write: JSON alone on stdout, people's text on stdout or stderr, hostile text made inert."""

from __future__ import annotations

import json
import sys
import unicodedata

from rich.console import Console

from armgate.model.base import Json
from armgate.model.outcome import ArmVerdict, Outcome

SIGNS = {
    Outcome.PASSED: ("+", "green"),
    Outcome.FAILED: ("x", "red"),
    Outcome.SKIPPED: ("-", "dim"),
    Outcome.VOID: ("?", "yellow"),
    Outcome.ERRORED: ("!", "magenta"),
}
"""A letter and a colour each: colour is never the only sign."""

ARM_COLOURS = {
    ArmVerdict.ACCEPTED: "green",
    ArmVerdict.REJECTED: "red",
    ArmVerdict.INCONCLUSIVE: "yellow",
    ArmVerdict.NOT_BOOTED: "magenta",
}


UNBOUNDED = 240


def error_console() -> Console:
    return Console(stderr=True)


def console() -> Console:
    """For people. In a file or a pipe lines are as long as they need to be; nothing is cut off."""
    return Console() if sys.stdout.isatty() else Console(width=UNBOUNDED)


def print_json(value: Json) -> None:
    """One JSON document on stdout; lone surrogates stay escaped, so that it is always valid UTF-8."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
    sys.stdout.flush()


def inert(text: str) -> str:
    """Text of unknown origin for a terminal: control, format and surrogate characters become escapes."""
    return "".join(
        char if char == " " or unicodedata.category(char)[0] not in "CZ" else _escape(char) for char in text
    )


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
