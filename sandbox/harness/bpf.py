"""Turns the policy into a classic BPF program for one machine and one process; pure, so any machine can be tested."""

import policy
import syscalls

ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""Machine -> (audit architecture, column of the syscall table)."""

X32_BIT = 0x40000000

ALLOW = 0x7FFF0000
ERRNO = 0x00050000
NOTIFY = 0x7FC00000
KILL_PROCESS = 0x80000000

LOAD, EQUAL, GREATER, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
NUMBER_OFFSET, ARCH_OFFSET, ARGS_OFFSET = 0, 4, 16


def program(machine, pid, watch):
    """Instructions `(code, jump_true, jump_false, k)`; `watch` is the action for watched calls."""
    architecture, column = ARCHITECTURES[machine]
    numbers = {name: pair[column] for name, pair in syscalls.NUMBERS.items() if pair[column] is not None}
    code = [
        (LOAD, 0, 0, ARCH_OFFSET),
        (EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL_PROCESS),
        (LOAD, 0, 0, NUMBER_OFFSET),
    ]
    if machine == "x86_64":
        code += [(AT_LEAST, 0, 1, X32_BIT), (RETURN, 0, 0, KILL_PROCESS)]
    code += [(GREATER, 0, 1, syscalls.HIGHEST), (RETURN, 0, 0, ERRNO | policy.ENOSYS)]
    for name, (rules, otherwise) in policy.CONDITIONAL.items():
        if name in numbers:
            action = watch if otherwise == "watch" else ERRNO | otherwise
            block = _conditional(rules, action, pid)
            code += [(EQUAL, 0, len(block), numbers[name]), *block]
    for names, action in ((policy.ALLOWED, ALLOW), (policy.WATCHED, watch)):
        for number in sorted(numbers[name] for name in names if name in numbers):
            code += [(EQUAL, 0, 1, number), (RETURN, 0, 0, action)]
    code.append((RETURN, 0, 0, ERRNO | policy.EPERM))
    return code


def name_of(machine, number):
    column = ARCHITECTURES[machine][1]
    return next((name for name, pair in syscalls.NUMBERS.items() if pair[column] == number), "call %d" % number)


def _conditional(rules, otherwise, pid):
    block = []
    for argument, test, values in rules:
        ks = [pid if value is policy.SELF else value for value in values]
        # Only the low word: the kernel takes these arguments as 32-bit integers.
        block.append((LOAD, 0, 0, ARGS_OFFSET + 8 * argument))
        block += _TESTS[test](ks, otherwise)
    return [*block, (RETURN, 0, 0, ALLOW)]


def _one_of(ks, otherwise):
    return [(EQUAL, len(ks) - i, 0, k) for i, k in enumerate(ks)] + [(RETURN, 0, 0, otherwise)]


def _none_of(ks, otherwise):
    last = len(ks) - 1
    tests = [(EQUAL, last - i, 1 if i == last else 0, k) for i, k in enumerate(ks)]
    return [*tests, (RETURN, 0, 0, otherwise)]


def _any_bit(ks, otherwise):
    return [(ANY_BIT, 1, 0, ks[0]), (RETURN, 0, 0, otherwise)]


def _never(_ks, otherwise):
    return [(RETURN, 0, 0, otherwise)]


_TESTS = {"in": _one_of, "not_in": _none_of, "has_bits": _any_bit, "never": _never}
