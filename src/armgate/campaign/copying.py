"""Copies one boot's evidence into a published run: files by an allow-list, records field by field."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from armgate.campaign.derived import recorded_verdicts
from armgate.campaign.evidence import boot_record
from armgate.client.journal import journal_line, read_journal
from armgate.model.base import Json
from armgate.model.publication import Replies
from armgate.reporting.run_folder import BootFolder, write_atomically, write_model
from armgate.reporting.withholding import (
    HEADERS,
    Withholder,
    published_boot,
    published_counters,
    without_replies,
)

_PRIVATE_KEYS = ("message", "error", "line", "fault")
"""Of the ledger: words of an engine or an operating system."""


def copy_boot(source: BootFolder, copy: BootFolder, hide: Withholder, replies: Replies) -> None:
    """The record, ledger, telemetry and verdicts; with the replies also exchanges and executions."""
    copy.root.mkdir(parents=True)
    write_model(copy.record, published_boot(boot_record(source), hide))
    entries = [_entry(entry, hide) for entry in read_journal(source.ledger)]
    write_atomically(copy.ledger, b"".join(map(journal_line, entries)))
    _telemetry(source, copy, hide)
    verdicts = list(recorded_verdicts(source).values())
    if replies == "yes":
        _evidence(source, copy)
    else:
        verdicts = [without_replies(verdict) for verdict in verdicts]
    lines = [journal_line(verdict.model_dump(mode="json")) for verdict in verdicts]
    write_atomically(copy.verdicts, b"".join(lines))


def _entry(entry: dict[str, Json], hide: Withholder) -> dict[str, Json]:
    return {key: hide.value(value) if key in _PRIVATE_KEYS else value for key, value in entry.items()}


def _telemetry(source: BootFolder, copy: BootFolder, hide: Withholder) -> None:
    for file in sorted(source.telemetry.glob("*")):
        text = file.read_text("utf-8", "replace")
        if file.suffix == ".prom":
            write_atomically(copy.telemetry / file.name, published_counters(text, hide).encode())
        elif file.suffix == ".jsonl":
            lines = [journal_line(hide.value(entry)) for entry in read_journal(file)]
            write_atomically(copy.telemetry / file.name, b"".join(lines))


def _evidence(source: BootFolder, copy: BootFolder) -> None:
    for pattern in ("exchanges/*/*.jsonl", "exchanges/*/*.jsonl.gz"):
        for file in sorted(source.root.glob(pattern)):
            write_atomically(copy.root / source.relative(file), _exchange(file))
    for file in sorted(source.root.glob("executions/*/*.json")):
        write_atomically(copy.root / source.relative(file), file.read_bytes())


def _exchange(file: Path) -> bytes:
    """The recording as it is, but for the response's headers, in which proxies write their names."""
    data = file.read_bytes()
    packed = file.suffix == ".gz"
    lines = (gzip.decompress(data) if packed else data).splitlines(keepends=True)
    if len(lines) > 1 and lines[1].startswith(b'{"status"'):
        answer = json.loads(lines[1])
        answer["headers"] = {name: text for name, text in answer["headers"].items() if name in HEADERS}
        lines[1] = json.dumps(answer, separators=(",", ":")).encode() + b"\n"
    whole = b"".join(lines)
    return gzip.compress(whole, mtime=0) if packed else whole
