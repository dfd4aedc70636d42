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


def program(machine, pid, watch, under_another_filter):
    """Instructions `(code, jump_true, jump_false, k)`. `watch` is the action for watched calls.

    Where a container's filter stands above this one, its refusal would outrank a report, so what it
    refuses is killed here.
    """
    architecture, column = ARCHITECTURES[machine]
    numbers = {name: pair[column] for name, pair in syscalls.NUMBERS.items() if pair[column] is not None}
    actions = {"watch": watch, "hard": KILL_PROCESS if under_another_filter else watch}
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
            block = _conditional(rules, otherwise, actions, pid)
            code += [(EQUAL, 0, len(block), numbers[name]), *block]
    flat = [(name, ALLOW) for name in policy.ALLOWED]
    flat += [(name, actions["watch" if name in policy.OUTER else "hard"]) for name in policy.WATCHED]
    for number, action in sorted((numbers[name], action) for name, action in flat if name in numbers):
        code += [(EQUAL, 0, 1, number), (RETURN, 0, 0, action)]
    code.append((RETURN, 0, 0, ERRNO | policy.EPERM))
    return code


def name_of(machine, number):
    column = ARCHITECTURES[machine][1]
    return next((name for name, pair in syscalls.NUMBERS.items() if pair[column] == number), "call %d" % number)


def _conditional(rules, otherwise, actions, pid):
    block = []
    for argument, test, values, *own in rules:
        says = own[0] if own else otherwise
        action = actions[says] if says in actions else ERRNO | says
        ks = [pid if value is policy.SELF else value for value in values]
        # Only the low word: the kernel takes these arguments as 32-bit integers.
        block.append((LOAD, 0, 0, ARGS_OFFSET + 8 * argument))
        block += [*_TESTS[test](ks), (RETURN, 0, 0, action)]
    return [*block, (RETURN, 0, 0, ALLOW)]


def _one_of(ks):
    """Tests that jump over the return that follows them where the rule holds, and fall onto it where not."""
    return [(EQUAL, len(ks) - i, 0, k) for i, k in enumerate(ks)]


def _none_of(ks):
    last = len(ks) - 1
    return [(EQUAL, last - i, 1 if i == last else 0, k) for i, k in enumerate(ks)]


def _any_bit(ks):
    return [(ANY_BIT, 1, 0, ks[0])]


def _no_bit(ks):
    return [(ANY_BIT, 0, 1, ks[0])]


def _never(_ks):
    return []


_TESTS = {"in": _one_of, "not_in": _none_of, "has_bits": _any_bit, "lacks_bits": _no_bit, "never": _never}
