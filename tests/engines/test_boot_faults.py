"""Boot faults and what Armgate does: each an arm of one campaign, booted against the stand-in.

Faults of images need a Docker engine's word and stand in `test_images.py` and `launchers/test_container.py`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from armgate.campaign.progress import Progress
from armgate.client.journal import read_journal
from armgate.engines.registry import ENGINES
from armgate.model.plan import PlannedBoot
from armgate.model.quality import QualityRecord
from armgate.reporting.run_folder import RunFolder
from support.running import Running
from support.runs import run
from support.stand_in import LADDER, SmallWorkspace, register

VOCABULARY = (
    "error: draft model vocab must match target model to use speculation but "
    "target vocab size 152064 does not match draft vocab size 151936"
)
HUGE_MIB = 2**40


@dataclasses.dataclass(frozen=True)
class Fault:
    """An arm, and how its boot ends: the cause on record, and words of the message."""

    name: str
    cause: str | None
    says: str = ""
    serve: dict[str, Any] = dataclasses.field(default_factory=dict)
    verdict: str | None = None

    @property
    def ready(self) -> bool:
        return self.cause is None


FAULTS = [
    Fault("port-in-use", "port_in_use", "before the start"),
    Fault("port-taken-while-loading", "port_in_use", "taken by another program", {"load_s": 60.0}),
    Fault("health-before-ready", None, serve={"load_s": 1.5, "open_early": "/health"}),
    Fault("models-before-health", None, serve={"load_s": 1.5, "open_early": "/v1/models"}),
    Fault("listening-before-loaded", None, serve={"load_s": 1.5, "open_early": "/health,/v1/models"}),
    Fault("wrong-model-under-the-right-name", "wrong_model", "other/model on the server, and org/model"),
    Fault("hang", "log_silence", "last line: Loading weights", {"load_s": 600.0}),
    Fault("slow-and-growing", None, serve={"load_s": 4.0, "load_grows": True}),
    Fault("never-ready", "ready_deadline", "not ready within", {"load_s": 600.0, "load_grows": True}),
    Fault("exit-with-a-reason", "engine_error", "told to fail", {"die_at_start": True}),
    Fault("exit-without-a-reason", "exited", "exit code 7", {"die_silently": 7}),
    Fault(
        "a-warning-is-no-reason", "exited", "exit code 7",
        {"die_silently": 7, "warns": "WARNING limits like `OSError: [Errno 24]` may follow"},
    ),
    Fault(
        "out-of-memory", "out_of_memory", "CUDA out of memory",
        {"die_with": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."},
    ),
    Fault("host-memory", "host_memory_exhausted", "below the floor", {"load_s": 60.0}),
    Fault("no-chat-template", "chat_template_missing", "default chat template", {"no_template": "wrapped"}),
    Fault("no-chat-template-flat", "chat_template_missing", "default chat template", {"no_template": "flat"}),
    Fault("revision-missing", "revision_missing", "hf download org/model"),
    Fault(
        "revision-missing-in-the-log", "revision_missing", "LocalEntryNotFoundError",
        {"die_with": "huggingface_hub.errors.LocalEntryNotFoundError: Cannot find an appropriate snapshot"},
    ),
    Fault("digest-mismatch", "pin_drift", "other"),
    Fault("vocabulary-mismatch", "draft_vocab_mismatch", "152064", {"die_with": VOCABULARY}),
    Fault(
        "draft-refused-and-going-on", None, verdict="inconclusive",
        serve={"warns": "draft model vocab type must match target model to use speculation"},
    ),
    Fault("first-request-compiles", None, serve={"slow_first": 1.0}),
]  # fmt: skip


def arms(small: SmallWorkspace, occupied: int, served: str) -> dict[str, dict[str, Any]]:
    usual = {"replies": small.replies("usual")}
    made = {fault.name: {"serve": {**usual, **fault.serve}, "deadlines": DEADLINES} for fault in FAULTS}
    process = {"kind": "process", "python": sys.executable}
    made["port-in-use"]["launcher"] = {**process, "port": occupied}
    attach = {"kind": "attach", "url": served}
    made["wrong-model-under-the-right-name"] |= {"launcher": attach, "target": "hub", "serve": {}}
    made["never-ready"]["deadlines"] = {**DEADLINES, "ready_s": 4.0}
    made["host-memory"]["memory_floor_mib"] = HUGE_MIB
    made["revision-missing"]["target"] = "hub"
    made["digest-mismatch"]["target"] = "other"
    for name in ("vocabulary-mismatch", "draft-refused-and-going-on"):
        made[name]["speculative"] = {"method": "draft_model", "depth": 3, "draft": "target"}
    return made


DEADLINES = {"ready_s": 60.0, "log_silence_s": 2.5, "silence_s": 20.0, "stop_s": 2.0}


class TakesThePort(Progress):
    """Binds a boot's port as soon as its program says that it loads weights."""

    def __init__(self, runs: Path) -> None:
        self.runs = runs
        self.arm = ""
        self.socket: socket.socket | None = None

    def boot_started(self, boot: PlannedBoot) -> None:
        self.arm = boot.arm

    def release(self) -> None:
        if self.socket is not None:
            self.socket.close()

    def note(self, text: str) -> None:
        if self.arm != "port-taken-while-loading" or text != "Loading weights" or self.socket is not None:
            return
        (record,) = self.runs.glob(f"*/*/arms/{self.arm}/boots/00/boot.json")
        argv = json.loads(record.read_text())["argv"]
        self.socket = socket.create_server(("127.0.0.1", int(argv[argv.index("--port") + 1])))


@dataclasses.dataclass(frozen=True)
class Finished:
    folder: RunFolder
    records: dict[str, QualityRecord]

    def boot(self, arm: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.folder.boot(arm, 0).record.read_text())
        return found


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Finished]:
    register()
    small = SmallWorkspace.make(tmp_path_factory.mktemp("faults"))
    small.ladder = [dict(LADDER[0])]
    pins = {
        "hub": {"hf": "org/model", "revision": "a" * 40},
        "other": {"dir": "model", "tree": "sha256:" + "0" * 64},
    }
    progress = TakesThePort(small.root / "runs")
    with contextlib.ExitStack() as stack, pytest.MonkeyPatch.context() as environment:
        stack.callback(ENGINES.pop, "stand-in")
        stack.callback(progress.release)
        theirs = Running("--model-id", "target", "--root", "other/model")
        stack.callback(theirs.stop)
        environment.setenv("HF_HUB_CACHE", str(small.root / "hub"))
        occupied = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        made = arms(small, occupied.getsockname()[1], theirs.url)
        made["wrong-model-under-the-right-name"]["launcher"]["model"] = "target"
        folder, result = run(small, small.campaign({"pins": pins}, **made), progress)
        yield Finished(folder, result.records)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_every_boot_ends_as_the_table_says(finished: Finished, fault: Fault) -> None:
    boot = finished.boot(fault.name)
    record = finished.records[fault.name]
    assert boot["cause"] == fault.cause, boot["message"]
    assert fault.says in (boot["message"] or "")
    assert (boot["ready_s"] is not None) == fault.ready
    assert record.arm_verdict.value == (fault.verdict or ("accepted" if fault.ready else "not_booted"))
    counts = record.counts
    assert counts.planned == counts.passed + counts.failed + counts.skipped + counts.void + counts.errored


def test_a_fault_of_one_arm_keeps_no_other_from_running(finished: Finished) -> None:
    assert finished.records["base"].arm_verdict.value == "accepted"
    assert set(finished.records) == {"base", *(fault.name for fault in FAULTS)}


def test_no_probe_is_sent_to_a_server_that_is_not_ready(finished: Finished) -> None:
    for fault in FAULTS:
        folder = finished.folder.boot(fault.name, 0)
        sent = [line["gate"] for line in read_journal(folder.ledger)] if folder.ledger.exists() else []
        if not fault.ready:
            assert set(sent) <= {"readiness", None}, fault.name


def test_attempts_on_a_server_that_still_loads_are_kept(finished: Finished) -> None:
    folder = finished.folder.boot("listening-before-loaded", 0)
    readiness = [line for line in read_journal(folder.ledger) if line.get("gate") == "readiness"]
    assert len(readiness) > 1


def test_the_first_request_that_pays_for_compilation_is_judged_nowhere(finished: Finished) -> None:
    folder = finished.folder.boot("first-request-compiles", 0)
    (first, *rest) = [line for line in read_journal(folder.ledger) if line["event"] == "exchange"]
    assert first["role"] == "readiness"
    assert first["cold"]
    assert [line["role"] for line in rest] == ["warm_up", "sample"]


def test_nothing_of_any_boot_is_left(finished: Finished) -> None:
    import psutil

    labels = []
    for process in psutil.process_iter():
        try:
            labels.append(process.environ().get("ARMGATE_BOOT", ""))
        except psutil.Error:
            continue
    assert not [label for label in labels if label.startswith(finished.folder.root.name)]
