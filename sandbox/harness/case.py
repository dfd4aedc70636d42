"""One case, in a process of its own: gives up its rights, runs the answer, sends one sealed result.

The answer shares this process and may do what it likes to it. It gains nothing: the expected value is
not here, and what arrives on the result channel is judged elsewhere as data.
"""

import _sitebuiltins
import atexit
import builtins
import io
import marshal
import os
import resource
import sys
import threading
import types

import confine
import values
import wire

HARNESS = [name for name, module in sys.modules.items() if getattr(module, "__file__", "") == "harness"]
"""Modules that an answer does not find; those that are loaded after this one hold nothing of use to it."""

RESULT = 3
CHANNEL_LOST, SETUP_FAILED = 96, 97
"""Exit codes: the answer took the result channel away; this file failed before the answer began."""

ENOMEM = 12


def run(limits, file_rules, call_filter, listener_channel):
    """Never returns. `limits` is the zygote's request; stdin holds the payload, descriptor 3 the result."""
    ending = Ending(os._exit)
    try:
        payload = marshal.loads(_read(0, limits.length))
        _lower_limits(limits)
        _settle(payload.get("stdin", b""))
        _give_up_rights(limits, file_rules, call_filter, listener_channel)
        ending.result = Result(RESULT, payload["seal"], 2 * limits.output_cap, os.write)
    except BaseException as error:
        os.write(2, ("setup: %r" % error).encode("utf-8", "replace")[:400])
        os._exit(SETUP_FAILED)
    _forget_harness()
    try:
        _judge_text_and_run(payload, ending.result)
    except _Gone as gone:
        ending.leave(gone.code)
    except BaseException:
        ending.leave(CHANNEL_LOST)
    ending.leave(0)


class _Gone(BaseException):
    def __init__(self, code):
        self.code = code


class Ending:
    """Leaves by the real `_exit`, whatever the answer has put in its place."""

    def __init__(self, leave):
        self.leave = leave
        self.result = None


class Result:
    """The result channel. One message: kind, body, then the seal that only this case was given.

    `budget` bounds the text of a value; text holds each byte as two digits.
    """

    def __init__(self, descriptor, seal, budget, write):
        self._descriptor, self._seal, self.budget, self._write = descriptor, seal, budget, write
        # Made while there is memory: the message that says that there is none.
        self._ballast = bytearray(1 << 20)
        self._out_of_memory = b"M." + seal

    def send(self, kind, body=b""):
        data = kind + body + b"." + self._seal
        while data:
            data = data[self._write(self._descriptor, data) :]

    def send_out_of_memory(self):
        self._ballast = None
        self._write(self._descriptor, self._out_of_memory)


def _read(descriptor, size):
    data = bytearray()
    while len(data) < size:
        part = os.read(descriptor, min(size - len(data), 1 << 16))
        if not part:
            raise EOFError("the payload ends early")
        data += part
    return data


def _lower_limits(limits):
    confine.limit(resource.RLIMIT_AS, limits.memory_mb << 20)
    # A backstop: the zygote measures CPU time itself, to the millisecond.
    confine.limit(resource.RLIMIT_CPU, limits.cpu_ms // 1000 + 2)
    confine.limit(resource.RLIMIT_FSIZE, limits.scratch_mb << 20)
    confine.limit(resource.RLIMIT_NOFILE, 64)
    confine.limit(resource.RLIMIT_CORE, 0)
    if limits.processes:
        confine.limit(resource.RLIMIT_NPROC, limits.processes)


def make_ordinary(scratch):
    """In the parent, once: streams, folder, environment and built-ins as an ordinary program has them."""
    os.chdir(scratch)
    os.umask(0o077)
    os.environ.clear()
    os.environ.update(LANG="C.UTF-8", HOME=scratch, TMPDIR=scratch, PATH="/usr/bin:/bin")
    _open_streams()
    sys.argv = ["answer.py"]
    for name in ("exit", "quit"):  # an interpreter without its site module lacks them
        setattr(builtins, name, _sitebuiltins.Quitter(name, "Ctrl-D"))
    # The default would be the host's stack limit, and a pool of threads would exhaust the address space.
    threading.stack_size(2 << 20)
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)


def _open_streams():
    """The objects are made here, and each case puts its own descriptors under them.

    They stand on descriptors of the same kind meanwhile: an object notes whether it can be searched.
    """
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_RDWR)
    source, (reading, writing) = os.memfd_create("stdin"), os.pipe()
    for target, descriptor in enumerate((source, writing, writing)):
        os.dup2(descriptor, target)
    stdin = io.BufferedReader(io.FileIO(0, "r", closefd=False))
    sys.stdin = io.TextIOWrapper(stdin, "utf-8", "surrogateescape")
    stdout = io.BufferedWriter(io.FileIO(1, "w", closefd=False))
    sys.stdout = io.TextIOWrapper(stdout, "utf-8", "strict")
    stderr = io.FileIO(2, "w", closefd=False)
    sys.stderr = io.TextIOWrapper(stderr, "utf-8", "backslashreplace", write_through=True)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    for target, descriptor in enumerate((nothing, nothing, kept)):
        os.dup2(descriptor, target)
    for descriptor in (kept, nothing, source, reading, writing):
        os.close(descriptor)


def _settle(given):
    """What is of this case alone: the first to die where memory runs out, and its standard input."""
    try:
        score = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        os.write(score, b"1000")
        os.close(score)
    except OSError:
        pass  # without it the kernel's own choice stands
    # A memory file has no path, so nothing that an earlier case left can stand in its way.
    source = os.memfd_create("stdin")
    data = memoryview(given)
    while data:
        data = data[os.write(source, data) :]
    os.lseek(source, 0, 0)
    os.dup2(source, 0)
    os.close(source)


def _give_up_rights(limits, file_rules, call_filter, listener_channel):
    if file_rules is not None:
        file_rules.apply()
    confine.process_flag(confine.PR_SET_DUMPABLE, 0)
    listener = call_filter.install(os.getpid(), limits.asks(wire.LISTEN))
    confine.send_descriptor(listener_channel, listener)
    listener_channel.close()
    os.closerange(RESULT + 1, 1024)


def _forget_harness():
    for name in HARNESS:
        del sys.modules[name]


def _judge_text_and_run(payload, result):
    try:
        text = payload["text"].decode("utf-8-sig")
        code = compile(text, "answer.py", "exec", dont_inherit=True)
    except MemoryError:
        result.send(b"C", b"does_not_parse\ntoo complex to parse")
        return
    except (SyntaxError, ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        result.send(b"C", _lines("does_not_parse", type(error).__name__, line))
        return
    name = "__main__" if payload["kind"] == "program" else "answer"
    module = types.ModuleType(name)
    module.__file__ = "answer.py"
    module.__builtins__ = builtins  # the real ones; this file has a copy of its own
    sys.modules["__main__"] = sys.modules[name] = module
    try:
        if payload["kind"] == "program":
            _run_program(code, module, result)
        else:
            _run_function(code, module, payload, result)
    except _Gone:
        raise
    except values.TooLarge:
        result.send(b"O")
    except values.NotPlain as error:
        result.send(b"C", _lines("return_type_not_plain", str(error), None))
    except BaseException as error:
        _send_failure(error, result)
        raise _Gone(1) from None


def _run_function(code, module, payload, result):
    encode, arguments = values.encode, payload["args"]
    exec(code, module.__dict__)
    entry = module.__dict__.get(payload["entry"])
    if not callable(entry):
        result.send(b"C", _lines("entry_missing", "nothing callable has the asked name", None))
        return
    value = entry(*arguments)
    body = encode(value, result.budget)
    if payload["unmutated"]:
        body += b"~" + encode(arguments, result.budget)
    result.send(b"V", body)


def _run_program(code, module, result):
    exit_code = 0
    try:
        exec(code, module.__dict__)
    except SystemExit as request:
        exit_code = _exit_code(request.code)
    # As the interpreter does at its end: other threads, atexit, then the buffers.
    threading._shutdown()
    atexit._run_exitfuncs()
    stdout = sys.stdout
    if stdout is not None:
        stdout.flush()
    result.send(b"P")
    raise _Gone(exit_code)


def _exit_code(value):
    if value is None:
        return 0
    return value & 0xFF if type(value) is int else 1


def _send_failure(error, result):
    kind = type(error)
    # By the real bases: `isinstance` would ask the answer's object for its `__class__`.
    if MemoryError in type.__dict__["__mro__"].__get__(kind) or (kind is OSError and error.errno == ENOMEM):
        result.send_out_of_memory()
        return
    name = values._printable(type.__dict__["__name__"].__get__(kind))
    result.send(b"E", _lines(name, _message(error), _line_of(error)))


def _message(error):
    """The text of a built-in exception's single string argument; no method of the answer's is asked."""
    arguments = BaseException.args.__get__(error)
    if type(arguments) is tuple and len(arguments) == 1 and type(arguments[0]) is str:
        return arguments[0][:300]
    return ""


def _line_of(error):
    line, frame = None, BaseException.__traceback__.__get__(error)
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == "answer.py":
            line = frame.tb_lineno
        frame = frame.tb_next
    return line


def _lines(word, text, line):
    fields = (word, "" if line is None else str(line), text)
    return "\n".join(field.replace("\n", " ") for field in fields).encode("utf-8", "replace")
