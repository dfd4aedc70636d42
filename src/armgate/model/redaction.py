"""Credentials in the text of logs and messages, found by what stands around them or by their own form.

Standard library only: the supervisor of a server's process loads this file by its path. What a model says is
never looked at with these rules; there only the known values of known secrets are masked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

LONGEST_LINE_BYTES = 1 << 16
SHORTEST_CREDENTIAL = 6

_VALUE = rb"(?P<value>[^\s'\",;&)\]}<>]{1,512})"
_NAME = (
    rb"(?:api[_-]?key|secret|password|passwd|(?:access|private)[_-]?key"
    rb"|(?:hf|hub|auth|access|refresh|bearer|github|session)[_-]?token)"
)

PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # name=value, "name": "value", --name value. Every repetition is bounded: a log may be one long line.
        _NAME + rb"['\"]?(?:\s{0,3}[:=]\s{0,3}|\s{1,3})[bu\[]{0,2}['\"]?"
        rb"(?!none\b|null\b|true\b|false\b)" + _VALUE,
        # Authorization: Bearer value
        rb"\b(?:bearer|basic|token)\s{1,3}(?P<value>[A-Za-z0-9._~+/=-]{6,512})",
        rb"[?&](?:token|key|sig|signature|auth)=" + _VALUE,
        # scheme://user:password@host
        rb"://[^\s/:@'\"]{0,64}:(?P<value>[^\s/@'\"]{1,128})@",
        # forms that nothing but a credential has
        rb"\b(?P<value>(?:hf_|sk-|ghp_|gho_|github_pat_|glpat-|xox[abp]-|AKIA)[A-Za-z0-9_-]{8,512})",
    )
)


_NAMES = re.compile(r"(?:token|secret|password|passwd|api_?key|access_?key)$", re.IGNORECASE)


def names_a_credential(variable: str) -> bool:
    """Whether an environment variable's name says that its value is one."""
    return _NAMES.search(variable) is not None


def redacted(data: bytes) -> bytes:
    """`data` with every credential replaced by as many `*`; names and all else stay as they are."""
    out = bytearray(data)
    for pattern in PATTERNS:
        for found in pattern.finditer(data):
            start, end = found.span("value")
            out[start:end] = b"*" * (end - start)
    return bytes(out)


class LogMask:
    """Masks a log as it is written. A line is held until its end, so that no credential is cut in two."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        named = [value for name, value in environment.items() if names_a_credential(name)]
        self._known = [value.encode() for value in named if len(value) >= SHORTEST_CREDENTIAL]
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """What can be written now."""
        self._held += data
        if len(self._held) > LONGEST_LINE_BYTES:
            return self.flush()
        whole = max(self._held.rfind(b"\n"), self._held.rfind(b"\r")) + 1
        out, self._held = self._held[:whole], self._held[whole:]
        return self._masked(out)

    def flush(self) -> bytes:
        """What is still held, its line unfinished: a progress bar, or the end."""
        out, self._held = self._held, b""
        return self._masked(out)

    def _masked(self, data: bytes) -> bytes:
        for value in self._known:
            data = data.replace(value, b"*" * len(value))
        return redacted(data)
