"""Turns the policy into a classic BPF program for one machine and one process. Pure: no kernel is asked."""

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
    return code + _decide(_segments(numbers, actions))


def _segments(numbers, actions):
    """Runs of call numbers with one action, as `(first number, action)` in order."""
    by_number = [ERRNO | policy.EPERM] * (syscalls.HIGHEST + 1)
    for name, number in numbers.items():
        if name in policy.ALLOWED:
            by_number[number] = ALLOW
        elif name in policy.WATCHED:
            by_number[number] = actions["watch" if name in policy.OUTER else "hard"]
    firsts = [n for n, action in enumerate(by_number) if n == 0 or by_number[n - 1] != action]
    return [(n, by_number[n]) for n in firsts]


def _decide(segments):
    """A binary search: the kernel walks the program once for every call there is when it is installed."""
    if len(segments) == 1:
        return [(RETURN, 0, 0, segments[0][1])]
    middle = len(segments) // 2
    below, above = _decide(segments[:middle]), _decide(segments[middle:])
    return [(AT_LEAST, len(below), 0, segments[middle][0]), *below, *above]


def name_of(machine, number):
    column = ARCHITECTURES[machine][1]
    names = (name for name, pair in syscalls.NUMBERS.items() if pair[column] == number)
    return next(names, "call %d" % number)


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
    """Tests jump over the return that follows them where the rule holds, and fall onto it where not."""
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
