"""What a recorded case means, from its evidence alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armgate.model.case_kind import case_finding, read_value, same_stdout, starved
from armgate.model.execution import B64, CaseRun, Ended, Kind, Limits, recorded
from armgate.model.plain import Comparison, NotPlainError, encode
from armgate.model.task import Case, Task

SEAL = "5ea1" * 8
LIMITS = Limits()


def task(**changes: Any) -> Task:
    fields: dict[str, Any] = {
        "schema": "armgate/task/v1",
        "id": "t",
        "kind": "function",
        "entry": "f",
        "prompt": "-",
        "cases": (Case(args=[[1]], expect=6),),
    }
    return Task(**(fields | changes))


FUNCTION = task()
UNMUTATED = task(arguments="unmutated")
PROGRAM = task(kind="program", entry=None, cases=(Case(stdin="1", stdout="6"),))


def run(result: bytes = b"", ended: Ended = Ended.EXITED, **changes: Any) -> CaseRun:
    fields: dict[str, Any] = {
        "case": "fixed-0",
        "input": encode([[1]]),
        "expected": encode(6),
        "ended": ended,
        "exit_code": 0 if ended is Ended.EXITED else None,
        "seal": SEAL,
        "result": recorded(result),
    }
    return CaseRun(**(fields | changes))


def sealed(body: str) -> bytes:
    return body.encode() + b"." + SEAL.encode()


def judged(case: CaseRun, declared: Task = FUNCTION) -> tuple[str, str]:
    found = case_finding(case, declared, declared.compare, LIMITS)
    return found.kind.value, found.reason


@pytest.mark.parametrize(
    ("case", "kind", "reason"),
    [
        (run(sealed("Vi0x6;")), "pass", "passed"),
        (run(sealed("Vi0x7;")), "wrong_answer", "value_differs"),
        (run(sealed("Vb1;")), "wrong_answer", "value_differs"),
        (run(b"Vi0x6;"), "contract_violation", "result_channel_misused"),
        (run(b"Vi0x1234;"), "wrong_answer", "value_differs"),
        (run(b"Vi0x6;" + sealed("Vi0x6;")), "contract_violation", "result_channel_misused"),
        (run(sealed("Vi0x6;") + b"x"), "contract_violation", "result_channel_misused"),
        (run(b"Vi0x6;." + b"00" * 16), "contract_violation", "result_channel_misused"),
        (run(sealed("Vi0x6;"), seal=""), "contract_violation", "result_channel_misused"),
        (run(b"PASS\n"), "contract_violation", "result_channel_misused"),
        (run(b"\xff\xfe"), "contract_violation", "result_channel_misused"),
        (run(b""), "runtime_error", "no_result_reported"),
        (run(b"", exit_code=96), "contract_violation", "result_channel_misused"),
        (run(sealed("EValueError\n3\nno")), "runtime_error", "exception"),
        (run(sealed("ERecursionError\n3\nno")), "runtime_error", "crash_or_recursion"),
        (run(sealed("ESystemExit\n\n")), "runtime_error", "no_result_reported"),
        (run(sealed("Centry_missing\n\nx")), "contract_violation", "entry_missing"),
        (run(sealed("Cmade_up\n\nx")), "contract_violation", "result_channel_misused"),
        (run(sealed("M")), "memory", "memory_limit"),
        (run(sealed("O")), "output_limit", "output_limit"),
        (run(b"M"), "contract_violation", "result_channel_misused"),
        (run(ended=Ended.OUTPUT_LIMIT), "output_limit", "output_limit"),
        (run(ended=Ended.FORBIDDEN_CALL, attempted="fork()"), "sandbox_violation", "forbidden_call"),
        (run(sealed("Vi0x6;"), Ended.FORBIDDEN_CALL), "sandbox_violation", "forbidden_call"),
        (run(ended=Ended.SIGNALLED, signal=31), "sandbox_violation", "forbidden_call"),
        (run(ended=Ended.SIGNALLED, signal=11), "runtime_error", "crash_or_recursion"),
        (run(ended=Ended.SIGNALLED, signal=9), "runtime_error", "crash_or_recursion"),
        (run(ended=Ended.SIGNALLED, signal=9, oom_kills=1), "memory", "memory_limit"),
        (run(ended=Ended.SIGNALLED, signal=24, cpu_s=2.1), "timeout", "cpu_limit"),
        (run(ended=Ended.CPU_LIMIT, signal=9, cpu_s=2.0), "timeout", "cpu_limit"),
        (run(ended=Ended.WALL_LIMIT, signal=9, wall_s=8.0), "timeout", "wall_limit"),
        (run(ended=Ended.SCRATCH_LIMIT, signal=9), "runtime_error", "scratch_limit"),
        (run(ended=Ended.NOT_SETTLED, exit_code=97), "harness_error", "harness_failed"),
        (run(ended=Ended.SANDBOX_LOST), "harness_error", "sandbox_lost"),
        (run(ended=Ended.SIGNALLED, signal=9, host_oom_kills=1), "harness_error", "host_out_of_memory"),
        (
            run(ended=Ended.WALL_LIMIT, signal=9, wall_s=8.0, waited_s=5.0),
            "harness_error",
            "timeout_not_trustworthy",
        ),
    ],
)
def test_functions(case: CaseRun, kind: str, reason: str) -> None:
    assert judged(case) == (kind, reason)


def test_a_sandbox_lost_twice_is_the_answers_doing() -> None:
    twice = run(ended=Ended.SANDBOX_LOST, earlier=(run(ended=Ended.SANDBOX_LOST),))
    assert judged(twice) == ("sandbox_violation", "sandbox_lost")


@pytest.mark.parametrize(
    ("body", "kind", "reason"),
    [
        ("Vi0x6;~l[l[i0x1;];];", "pass", "passed"),
        ("Vi0x6;~l[l[i0x1;i0x2;];];", "wrong_answer", "arguments_mutated"),
        ("Vi0x6;~l[t[i0x1;];];", "wrong_answer", "arguments_mutated"),
        ("Vi0x6;", "wrong_answer", "arguments_mutated"),
        ("Vi0x7;~l[l[i0x1;];];", "wrong_answer", "value_differs"),
    ],
)
def test_arguments_left_alone(body: str, kind: str, reason: str) -> None:
    assert judged(run(sealed(body)), UNMUTATED) == (kind, reason)


def program(stdout: bytes, result: bytes = b"", **changes: Any) -> CaseRun:
    return run(result, stdout=recorded(stdout), input="1", expected="6", **changes)


@pytest.mark.parametrize(
    ("case", "kind", "reason"),
    [
        (program(b"6\n", sealed("P")), "pass", "passed"),
        (program(b"6\n"), "pass", "passed"),
        (program(b"6 \t\r\n\n\n", sealed("P")), "pass", "passed"),
        (program(b"6\0\n", sealed("P")), "wrong_answer", "value_differs"),
        (program(b"", b"Vi0x6;" + sealed("P")), "wrong_answer", "value_differs"),
        (program(b"6\n", b"Vi0x6;" + sealed("P")), "contract_violation", "result_channel_misused"),
        (program(b"6\n", b"P"), "contract_violation", "result_channel_misused"),
        (program(b"\xff\xfe6", sealed("P")), "contract_violation", "stdout_not_utf8"),
        (program(b"6\n", sealed("P"), exit_code=1), "runtime_error", "exit_status"),
        (program(b"6\n", sealed("EKeyError\n1\nx"), exit_code=1), "runtime_error", "exception"),
        (program(b"6\n", sealed("M"), exit_code=1), "memory", "memory_limit"),
        (program(b"6\n", sealed("Cdoes_not_parse\n1\nx")), "contract_violation", "does_not_parse"),
    ],
)
def test_programs(case: CaseRun, kind: str, reason: str) -> None:
    assert judged(case, PROGRAM) == (kind, reason)


def test_the_order_of_two_broken_limits_does_not_matter() -> None:
    over = LIMITS.memory_mb * 1024 + 1
    kinds = {
        judged(run(ended=ended, signal=9, cpu_s=2.5, memory_peak_kb=over))[0]
        for ended in (Ended.CPU_LIMIT, Ended.SIGNALLED, Ended.WALL_LIMIT)
    }
    assert kinds == {"memory"}


def test_messages_are_sanitized() -> None:
    found = case_finding(run(sealed("EValueError\n7\n\x1b[2Jboo\x00")), FUNCTION, Comparison(), LIMITS)
    assert "\x1b" not in found.message
    assert "\x00" not in found.message
    assert "(line 7)" in found.message


def test_tolerance_in_program_output_is_token_by_token() -> None:
    near = Comparison(float_rel=1e-3)
    assert same_stdout("mean 1.0001 end\n", "mean 1.0 end", near)
    assert not same_stdout("mean 1.1 end\n", "mean 1.0 end", near)
    assert not same_stdout("1.0001\n", "1.0", Comparison())
    assert not same_stdout("１\n", "1", near)
    assert not same_stdout("1_0\n", "10", near)
    assert not same_stdout("6\n", "6", Comparison(stdout="exact"))


def test_a_value_needs_its_seal() -> None:
    assert read_value(sealed("Vi0x6;"), SEAL) == 6
    for data in (b"Vi0x6;", b"Vi0x6;.", sealed("Vi0x6;") + b".", b""):
        with pytest.raises(NotPlainError):
            read_value(data, SEAL)


def test_starved_is_about_the_wall_limit_only() -> None:
    assert not starved(run(ended=Ended.CPU_LIMIT, wall_s=8.0, waited_s=7.0))
    assert starved(run(ended=Ended.WALL_LIMIT, wall_s=8.0, waited_s=7.0))


@given(st.binary(max_size=200), st.sampled_from([FUNCTION, UNMUTATED, PROGRAM]), st.sampled_from(Ended))
def test_no_result_without_the_seal_passes(data: bytes, declared: Task, ended: Ended) -> None:
    """Whatever arrives: a kind, never an exception; and never a pass of a function without the seal."""
    stdout = recorded(data) if declared is PROGRAM else ""
    case = run(data, ended, stdout=stdout, expected="6" if declared is PROGRAM else encode(6))
    found = case_finding(case, declared, declared.compare, LIMITS)
    assert found.kind is not Kind.PASS or declared is PROGRAM


def test_bytes_that_are_no_text_are_kept_as_they_are() -> None:
    assert recorded(b"a") == "a"
    assert recorded(b"\xff") == B64(b64="/w==")
