"""A task's cases with their expected values, made ready on the trusted side.

Generator and reference run in a sandbox too, but in one of their own that no answer is ever run in.
"""

from __future__ import annotations

import dataclasses
import secrets

from armgate.execution.sandbox import Observed, Sandbox
from armgate.execution.wire import CaseRequest
from armgate.model.case_kind import read_value
from armgate.model.execution import Calibration, Ended, Limits
from armgate.model.plain import NotPlainError, Plain, encode
from armgate.model.task import FIXED, GENERATED, LoadedTask

TRUSTED_CPU_S, TRUSTED_WALL_S = 60.0, 240.0
"""For the generator, which makes all inputs in one call."""


class PreparationFailed(Exception):  # noqa: N818 - becomes the fault of a record, by its only caller
    """The task's own generator or reference did not do its part on this host."""


@dataclasses.dataclass(frozen=True)
class PreparedCase:
    """`arguments` for a function, `stdin` for a program; `expected` as records hold it."""

    name: str
    arguments: list[Plain] | None
    stdin: str
    expected: str

    @property
    def input(self) -> str:
        return self.stdin if self.arguments is None else encode(self.arguments)


@dataclasses.dataclass(frozen=True)
class Prepared:
    cases: tuple[PreparedCase, ...]
    calibration: Calibration


def request_for(task: LoadedTask, case: PreparedCase, text: bytes, limits: Limits, seal: str) -> CaseRequest:
    """The case as a sandbox gets it: inputs, never the expected value."""
    return CaseRequest(
        kind=task.task.kind,
        text=text,
        seal=seal,
        entry=task.task.entry,
        arguments=case.arguments,
        stdin=case.stdin,
        unmutated=task.task.arguments == "unmutated",
        cpu_s=limits.cpu_s,
        wall_s=limits.wall_s,
        memory_mb=limits.memory_mb,
        output_bytes=limits.output_kb << 10,
        scratch_mb=limits.scratch_mb,
    )


def new_seal() -> str:
    return secrets.token_hex(16)


def fixed_cases(task: LoadedTask) -> tuple[PreparedCase, ...]:
    return tuple(
        PreparedCase(f"{FIXED}-{place}", None, case.stdin or "", case.stdout or "")
        if case.is_program
        else PreparedCase(f"{FIXED}-{place}", case.arguments, "", encode(case.expected))
        for place, case in enumerate(task.task.cases)
    )


@dataclasses.dataclass(frozen=True)
class Generated:
    """Generated cases, and what the costliest of them cost the task's own reference on this host."""

    cases: tuple[PreparedCase, ...]
    reference_cpu_s: float
    reference_wall_s: float


def generated_cases(task: LoadedTask, sandbox: Sandbox, limits: Limits) -> Generated:
    """Runs generator and reference in `sandbox`, which is not to be used for answers afterwards."""
    assert task.reference is not None
    cases, costs = [], []
    for place, inputs in enumerate(_generated_inputs(task, sandbox)):
        case = _unanswered(task, f"{GENERATED}-{place}", inputs)
        seal = new_seal()
        observed = sandbox.run(request_for(task, case, task.reference.encode(), limits, seal))
        cases.append(dataclasses.replace(case, expected=_reference_result(task, case.name, observed, seal)))
        assert observed.ending is not None
        costs.append(observed.ending)
    return Generated(
        cases=tuple(cases),
        reference_cpu_s=max(cost.cpu_s for cost in costs),
        reference_wall_s=max(cost.wall_s for cost in costs),
    )


def _generated_inputs(task: LoadedTask, sandbox: Sandbox) -> list[Plain]:
    generated, seal = task.task.generated, new_seal()
    assert generated is not None
    assert task.generator is not None
    request = CaseRequest(
        kind="function",
        text=task.generator.encode(),
        seal=seal,
        entry="generate",
        arguments=[generated.seed, generated.count],
        cpu_s=TRUSTED_CPU_S,
        wall_s=TRUSTED_WALL_S,
        memory_mb=1024,
        output_bytes=64 << 20,
    )
    inputs = _value(sandbox.run(request), seal, "generate() of the task")
    if not isinstance(inputs, list) or len(inputs) != generated.count:
        raise PreparationFailed(f"generate() of the task did not return a list of {generated.count} inputs")
    return inputs


def _unanswered(task: LoadedTask, name: str, inputs: Plain) -> PreparedCase:
    if task.task.kind == "program":
        if type(inputs) is not str:
            raise PreparationFailed(f"{name}: a program's input is a str")
        return PreparedCase(name, None, inputs, "")
    if type(inputs) not in (list, tuple):
        raise PreparationFailed(f"{name}: a function's input is a list of arguments")
    return PreparedCase(name, list(inputs), "", "")


def _reference_result(task: LoadedTask, name: str, observed: Observed, seal: str) -> str:
    if task.task.kind == "function":
        return encode(_value(observed, seal, f"the reference on {name}"))
    ending = observed.ending
    if ending is None or ending.ended is not Ended.EXITED or ending.exit_code != 0:
        raise PreparationFailed(f"the reference on {name} {_how_it_ended(observed)}")
    try:
        return observed.stdout.decode("utf-8")
    except UnicodeDecodeError:
        raise PreparationFailed(f"the reference on {name} printed what is not UTF-8") from None


def _value(observed: Observed, seal: str, who: str) -> Plain:
    if observed.ending is None or observed.ending.ended is not Ended.EXITED:
        raise PreparationFailed(f"{who} {_how_it_ended(observed)}")
    try:
        return read_value(observed.result, seal)
    except NotPlainError:
        said = observed.result.split(b".")[0][:200].decode("utf-8", "replace")
        raise PreparationFailed(f"{who} returned no plain value: {said!r}") from None


def _how_it_ended(observed: Observed) -> str:
    ending = observed.ending
    if ending is None:
        return f"lost its sandbox: {observed.lost}"
    return (
        f"ended by {ending.ended} (status {ending.exit_code}, signal {ending.signal}, "
        f"{ending.cpu_s:.2f} s CPU, {ending.wall_s:.2f} s)"
    )
