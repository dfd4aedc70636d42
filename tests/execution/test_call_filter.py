"""The system-call filter, run by a small BPF machine for both architectures, and its tables."""

from __future__ import annotations

import json
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.harness import harness_modules

ROOT = Path(__file__).resolve().parents[2]
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
PID = 4711
ALLOW, NOTIFY, KILL, EPERM, ENOSYS = 0x7FFF0000, 0x7FC00000, 0x80000000, 0x00050001, 0x00050026


@pytest.fixture(scope="module")
def modules() -> Iterator[dict[str, types.ModuleType]]:
    with harness_modules("bpf", "policy", "syscalls") as loaded:
        yield loaded


class Machine:
    """Interprets the instructions that the filter uses, as the kernel documents them."""

    def __init__(self, modules: dict[str, types.ModuleType], name: str, under: bool = False) -> None:
        self.program = modules["bpf"].program(name, PID, NOTIFY, under)
        self.numbers = {
            call: pair[list(ARCHITECTURES).index(name)] for call, pair in modules["syscalls"].NUMBERS.items()
        }
        self.architecture = ARCHITECTURES[name]

    def call(self, name: str | int, *arguments: int) -> int:
        number = self.numbers[name] if isinstance(name, str) else name
        assert number is not None
        return self.run(number, self.architecture, arguments)

    def run(self, number: int, architecture: int, arguments: tuple[int, ...] = ()) -> int:
        data = {0: number & 0xFFFFFFFF, 4: architecture}
        for place, value in enumerate((*arguments, *([0] * (6 - len(arguments))))):
            data[16 + 8 * place] = value & 0xFFFFFFFF
        at, accumulator = 0, 0
        for _ in range(10_000):
            code, jump_true, jump_false, k = self.program[at]
            at += 1
            if code == 0x20:
                accumulator = data[k]
            elif code == 0x06:
                return int(k)
            else:
                test = {
                    0x15: accumulator == k,
                    0x25: accumulator > k,
                    0x35: accumulator >= k,
                    0x45: bool(accumulator & k),
                }[code]
                at += jump_true if test else jump_false
        raise AssertionError("the program does not end")


@pytest.fixture(params=ARCHITECTURES)
def machine(request: pytest.FixtureRequest, modules: dict[str, types.ModuleType]) -> Machine:
    return Machine(modules, request.param)


def test_every_jump_stays_inside(machine: Machine) -> None:
    size = len(machine.program)
    assert size < 4096
    for place, (code, jump_true, jump_false, _) in enumerate(machine.program):
        assert 0 <= jump_true < 256
        assert 0 <= jump_false < 256
        if code not in (0x20, 0x06):
            assert place + 1 + max(jump_true, jump_false) < size
    assert machine.program[-1][0] == 0x06


def test_every_call_by_name(machine: Machine, modules: dict[str, types.ModuleType]) -> None:
    policy = modules["policy"]
    conditional = set(policy.CONDITIONAL)
    for name, number in machine.numbers.items():
        if number is None or name in conditional:
            continue
        expected = ALLOW if name in policy.ALLOWED else NOTIFY
        assert machine.run(number, machine.architecture) == expected, name


def test_what_is_not_named_is_refused(machine: Machine, modules: dict[str, types.ModuleType]) -> None:
    known = set(machine.numbers.values())
    highest = modules["syscalls"].HIGHEST
    for number in range(highest + 1):
        if number not in known:
            assert machine.run(number, machine.architecture) == EPERM
    assert machine.run(highest + 1, machine.architecture) == ENOSYS


def test_another_architecture_is_killed(machine: Machine) -> None:
    other = next(value for value in ARCHITECTURES.values() if value != machine.architecture)
    for number in (0, 1, 39, 172):
        assert machine.run(number, other) == KILL
        assert machine.run(number, 0x40000003) == KILL


def test_x32_numbers_are_killed(modules: dict[str, types.ModuleType]) -> None:
    x86 = Machine(modules, "x86_64")
    for number in (0x40000000, 0x40000000 + 39, 0xFFFFFFFF):
        assert x86.run(number, x86.architecture) == KILL


@pytest.mark.parametrize("name", ["kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"])
def test_signals_to_itself_only(machine: Machine, name: str) -> None:
    assert machine.call(name, PID, 9) == ALLOW
    for other in (0, 1, -1, -PID, PID + 1):
        assert machine.call(name, other, 9) == NOTIFY


@pytest.mark.parametrize("name", ["prlimit64", "sched_setaffinity"])
def test_settings_of_itself_only(machine: Machine, name: str) -> None:
    assert machine.call(name, 0) == ALLOW
    assert machine.call(name, PID) == ALLOW
    assert machine.call(name, 1) == NOTIFY


def test_threads_yes_processes_no(machine: Machine) -> None:
    assert machine.call("clone", 0x003D0F00) == ALLOW
    assert machine.call("clone", 0x01200011) == NOTIFY
    assert machine.call("clone", 0x00010000 | 0x10000000) == NOTIFY
    assert machine.call("clone3") == ENOSYS


def test_sockets(machine: Machine) -> None:
    for family in (1, 2, 10, 16, 17, 38, 40):
        assert machine.call("socket", family, 1) == NOTIFY
    assert machine.call("socketpair", 1, 1 | 0o2000000) == ALLOW
    assert machine.call("socketpair", 1, 2) == NOTIFY
    assert machine.call("socketpair", 2, 1) == NOTIFY


def test_descriptors_may_not_signal_others(machine: Machine) -> None:
    assert machine.call("fcntl", 5, 1) == ALLOW
    for command in (8, 10, 15):
        assert machine.call("fcntl", 5, command) == NOTIFY
    assert machine.call("ioctl", 5, 0x5401) == ALLOW
    assert machine.call("ioctl", 5, 0x8901) == EPERM


def test_process_settings(machine: Machine) -> None:
    assert machine.call("prctl", 15) == ALLOW
    for option in (1, 4, 22, 38):
        assert machine.call("prctl", option) == EPERM
    assert machine.call("setpriority", 0, 0) == ALLOW
    assert machine.call("setpriority", 2, 0) == NOTIFY
    assert machine.call("setpriority", 0, 1) == NOTIFY


def test_under_a_containers_filter_only_what_that_lets_through_is_reported(
    modules: dict[str, types.ModuleType],
) -> None:
    policy = modules["policy"]
    for name in ARCHITECTURES:
        inner = Machine(modules, name, under=True)
        for call in policy.WATCHED:
            if inner.numbers[call] is not None:
                assert inner.call(call) == (NOTIFY if call in policy.OUTER else KILL), call
        assert inner.call("socket", 40, 1) == KILL
        assert inner.call("socket", 2, 1) == NOTIFY
        assert inner.call("clone", 0x10000011) == KILL
        assert inner.call("clone", 0x01200011) == NOTIFY


def test_names_are_of_one_kind(modules: dict[str, types.ModuleType]) -> None:
    policy = modules["policy"]
    assert not policy.ALLOWED & policy.WATCHED
    assert not policy.ALLOWED & set(policy.CONDITIONAL)
    assert not policy.WATCHED & set(policy.CONDITIONAL)


def _printed(script: str) -> str:
    return subprocess.run(
        [sys.executable, "-B", ROOT / "scripts" / script, "--print"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_the_table_is_that_of_the_kernels_headers() -> None:
    for header in ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm-generic/unistd.h"):
        if not Path(header).exists():
            pytest.skip(f"{header} is not installed (Debian: linux-libc-dev)")
    assert _printed("syscall-table") == (ROOT / "sandbox" / "harness" / "syscalls.py").read_text()


def test_the_containers_profile_is_made_from_the_policy() -> None:
    assert _printed("seccomp-profile") == (ROOT / "sandbox" / "seccomp.json").read_text()


def test_the_containers_profile_refuses_by_default() -> None:
    profile = json.loads((ROOT / "sandbox" / "seccomp.json").read_text())
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    allowed = {name for rule in profile["syscalls"] for name in rule["names"]}
    assert not allowed & {"mount", "ptrace", "bpf", "io_uring_setup", "unshare", "setns", "keyctl"}
