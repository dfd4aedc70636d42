"""Runs a small campaign, kills it with SIGKILL at chosen moments, resumes it, and tells what was lost.

`python killed_runs.py [--moments N]` prints how many kills fell into each phase and every fault found.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


from armgate.campaign.derived import read_plan, recorded_verdicts
from armgate.campaign.evidence import boot_record
from armgate.campaign.rejudge import rejudge
from armgate.client.journal import read_journal
from armgate.model.plan import PlannedBoot
from armgate.reporting.run_folder import BootFolder, RunFolder
from support import stand_in_command
from support.labelled import labelled
from support.stand_in import SmallWorkspace, register

Verdicts = dict[tuple[str, str], str]
TOO_LONG_S = 120


@dataclasses.dataclass(frozen=True)
class Killed:
    """One kill: where it fell, and what was wrong after resuming."""

    after_s: float
    phase: str
    faults: tuple[str, ...]


class KilledRuns:
    """Repeats one campaign below `root`. The first, undisturbed run gives the verdicts and the wall time."""

    def __init__(self, root: Path) -> None:
        register()
        self.small = SmallWorkspace.make(root)
        self.campaign = self.small.campaign(deep={"speculative": {"method": "ngram", "depth": 3}})
        began = time.monotonic()
        process = self._start("run", str(self.campaign), "--out", str(root / "undisturbed"))
        if process.wait(TOO_LONG_S) != 0:
            raise RuntimeError("the undisturbed run does not end well, so nothing can be compared with it")
        self.wall_s = time.monotonic() - began
        self.verdicts = _verdicts(_only_run(root / "undisturbed"))

    def kill_at(self, after_s: float) -> Killed:
        out = self.small.root / f"killed-{after_s:.4f}"
        process = self._start("run", str(self.campaign), "--out", str(out))
        time.sleep(after_s)
        process.kill()
        process.wait()
        folder = _only_run(out)
        if folder is None or not folder.plan.exists():
            return Killed(after_s, "before the plan was on file", ())
        phase, kept = _phase(folder), dict(finished_exchanges(folder))
        resumed = self._start("resume", str(folder.root), "--workspace", str(self.small.root))
        code = resumed.wait(TOO_LONG_S)
        faults = [f"resume ended in {code}"] if code else []
        return Killed(after_s, phase, (*faults, *self._faults(folder, kept)))

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        argv = [sys.executable, stand_in_command.__file__, *arguments, "--quiet"]
        return subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _faults(self, folder: RunFolder, kept: dict[str, str]) -> Iterator[str]:
        there = set(dict(finished_exchanges(folder)).values())
        yield from (
            f"lost the finished exchange {name}" for name, digest in kept.items() if digest not in there
        )
        if _verdicts(folder) != self.verdicts:
            yield "the verdicts differ from those of the undisturbed run"
        for boot in read_plan(folder).plan.boots:
            doubled = [g for g, n in Counter(_gates(folder, boot)).items() if n > 1]
            yield from (f"{boot.arm}: two verdicts for {gate}" for gate in doubled)
        yield from (f"judge: {d.file} {d.what}" for d in rejudge(folder).differences)
        yield from (f"process {pid} is still there" for pid in _left_behind(folder))


def _only_run(out: Path) -> RunFolder | None:
    return next((RunFolder(path) for path in out.glob("small/*")), None)


def _gates(folder: RunFolder, boot: PlannedBoot) -> list[str]:
    return [str(line["gate"]) for line in read_journal(folder.boot(boot.arm, boot.boot).verdicts)]


def _verdicts(folder: RunFolder | None) -> Verdicts:
    if folder is None:
        return {}
    return {
        (boot.arm, gate): verdict.outcome.value
        for boot in read_plan(folder).plan.boots
        for gate, verdict in recorded_verdicts(folder.boot(boot.arm, boot.boot)).items()
    }


def finished_exchanges(folder: RunFolder) -> Iterator[tuple[str, str]]:
    """(path, digest) of every recording that has its trailer, in counted and superseded boots."""
    for path in folder.root.glob("arms/*/boots/*/exchanges/*/*.jsonl"):
        data = path.read_bytes()
        if b'\n{"fate":' in data and data.endswith(b"\n"):
            yield path.relative_to(folder.root).as_posix(), hashlib.sha256(data).hexdigest()


def _phase(folder: RunFolder) -> str:
    """Where a killed run had got to, by what it left."""
    boots = [folder.boot(b.arm, b.boot) for b in read_plan(folder).plan.boots]
    begun = [boot for boot in boots if boot.record.exists()]
    if not begun:
        return "before the first boot"
    if len(begun) == len(boots) and boot_record(begun[-1]).total_s is not None:
        return "after the last boot"
    last = begun[-1]
    record = boot_record(last)
    if record.total_s is not None:
        return "between boots"
    return _gate_phase(last) if record.was_ready else "starting a server"


def _gate_phase(boot: BootFolder) -> str:
    events = [entry for entry in read_journal(boot.ledger) if entry["event"] == "gate"]
    if not events:
        return "ready"
    last = events[-1]
    return f"gate {last['gate']}" if last["state"] == "started" else "between gates or stopping"


def _left_behind(folder: RunFolder) -> list[int]:
    """Processes of the run's boots that outlive it by more than a moment."""
    deadline = time.monotonic() + 10
    while (found := [process.pid for process in labelled(folder.root.name)]) and time.monotonic() < deadline:
        time.sleep(0.1)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--moments", type=int, default=200)
    moments = parser.parse_args().moments
    with tempfile.TemporaryDirectory(prefix="armgate-killed-") as root:
        runs = KilledRuns(Path(root))
        print(f"undisturbed: {runs.wall_s:.2f} s, {len(runs.verdicts)} verdicts", flush=True)
        kills = []
        for number in range(moments):
            kills.append(runs.kill_at(runs.wall_s * (number + 0.5) / moments))
            for fault in kills[-1].faults:
                print(f"  killed after {kills[-1].after_s:.3f} s ({kills[-1].phase}): {fault}", flush=True)
    for phase, count in Counter(kill.phase for kill in kills).most_common():
        print(f"{count:5} {phase}")
    faulty = sum(bool(kill.faults) for kill in kills)
    print(f"{len(kills)} kills, {faulty} with a fault")
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
