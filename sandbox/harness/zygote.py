"""The warm parent inside the sandbox: gives up its own rights, then serves one case after another.

It never runs an answer, holds no expected value, and keeps nothing of a case once it is over.
"""

import gc
import json
import os
import sys

import case
import confine
import measure
import supervisor
import wire

PRELOADED = """
abc array ast asyncio bisect collections contextlib copy dataclasses datetime decimal enum fractions
functools heapq inspect itertools json math numbers operator random re statistics string tempfile textwrap
traceback types typing unicodedata concurrent.futures linecache locale
encodings.utf_8_sig encodings.latin_1 encodings.ascii
"""
"""What answers often import, so that a case does not pay for it."""


def main(config):
    """Serves cases until the host closes its end.

    `config`: scratch; uid to become, or null; readable paths, or null for all of the sandbox but /proc and
    /sys; file_rules: whether Landlock is "required" or only "wanted" behind other walls.
    """
    to_host = wire.Wire()
    try:
        file_rules, call_filter = _settle(config)
    except OSError as error:
        to_host.frame(wire.HELLO, json.dumps({"failed": str(error)}).encode())
        return
    gc.collect()
    gc.freeze()
    facts = {
        "python": sys.version.split()[0],
        "uid": os.getuid(),
        "capabilities": _status().get("CapEff", "unknown"),
        "landlock": file_rules.version if file_rules else None,
    }
    to_host.frame(wire.HELLO, json.dumps(facts).encode())
    memory_kills = measure.MemoryKills()
    while True:
        request = to_host.request()
        if request.magic != wire.MAGIC:
            os._exit(3)
        supervised = supervisor.Supervised(
            request, to_host, config["scratch"], file_rules, call_filter, memory_kills
        )
        supervised.run()


def _settle(config):
    """Becomes the user that answers run as, takes this process out of their sight, warms up."""
    if config["uid"] is not None:
        _drop_to(config["uid"])
    confine.process_flag(confine.PR_SET_DUMPABLE, 0)
    case.make_ordinary(config["scratch"])
    for name in PRELOADED.split():
        __import__(name)
    filtered = _status().get("Seccomp") == "2"
    return _file_rules(config), confine.CallFilter(under_another_filter=filtered)


def _drop_to(uid):
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def _file_rules(config):
    readable = config["readable"]
    if readable is None:
        readable = ["/" + name for name in os.listdir("/") if name not in ("proc", "sys")]
    try:
        return confine.FileRules(readable, [config["scratch"], os.devnull])
    except OSError:
        if config["file_rules"] == "required":
            raise
        return None


def _status():
    try:
        with open("/proc/self/status") as file:
            return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    except OSError:
        return {}
