"""Every exception that Armgate raises on purpose.

ArmgateError
├── UsageError              exit 2: the command or a declared file is wrong
│   └── DeclarationError    a file that a person wrote does not hold; carries every problem found
└── InfrastructureError     exit 4: our fault, the host's, the engine's start or the sandbox's
    ├── RecordError         a run folder cannot be written or read
    ├── BootError           an arm's server could not be started, or is not what was pinned
    └── SandboxUnavailable  no tier that the task allows works on this host

What a model does is never an exception: it is a verdict.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path


class ArmgateError(Exception):
    """Base of the tree. `exit_code` is what the command line returns when nobody catches it."""

    exit_code = 4


class UsageError(ArmgateError):
    exit_code = 2


@dataclasses.dataclass(frozen=True)
class Problem:
    """One thing that is wrong in a declared file. Lines and columns start at 1."""

    file: Path | None
    line: int | None
    column: int | None
    where: str
    message: str
    hint: str | None = None

    def __str__(self) -> str:
        place = str(self.file) if self.file is not None else "input"
        if self.line is not None:
            place += f":{self.line}" + (f":{self.column}" if self.column is not None else "")
        text = f"{place}: {self.where}: {self.message}" if self.where else f"{place}: {self.message}"
        return text + (f"\n    hint: {self.hint}" if self.hint else "")


class DeclarationError(UsageError):
    """A campaign, ladder, contract, task or exchange file does not hold; all problems at once."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class InfrastructureError(ArmgateError):
    exit_code = 4


class RecordError(InfrastructureError):
    pass


class BootError(InfrastructureError):
    """The boot of an arm was refused or failed. `cause`: a stable word for records; `values`: its figures."""

    def __init__(self, cause: str, message: str, values: Mapping[str, object] | None = None) -> None:
        self.cause, self.values = cause, dict(values or {})
        super().__init__(message)


class SandboxUnavailable(InfrastructureError):  # noqa: N818 - the design's word for this state
    pass
