"""Publishes a run: a copy of what may be seen, judged again from the copy, searched for what may not be."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from armgate.campaign.copying import copy_boot
from armgate.campaign.derived import boots_begun, read_plan, recorded_verdicts, was_interrupted, write_derived
from armgate.campaign.facts import run_facts
from armgate.campaign.identifiers import Identifiers, identifiers_of
from armgate.campaign.publication import read_publication
from armgate.campaign.rejudge import rejudge
from armgate.errors import RecordError, UsageError
from armgate.model.base import Digest
from armgate.model.plan import Plan, PlanFile
from armgate.model.publication import LeftOut, Publication, Replies, Searched
from armgate.reporting.checksums import NAME, files_of, verify, write_sums
from armgate.reporting.files import report_files
from armgate.reporting.methodology import methodology
from armgate.reporting.run_folder import RunFolder, write_atomically, write_model
from armgate.reporting.scan import scan
from armgate.reporting.withholding import Withholder, published_plan

ALWAYS_LEFT_OUT = (
    LeftOut(what="server.log", why="an engine's log names hosts, paths and addresses"),
    LeftOut(what="boots that were set aside", why="they decide nothing"),
    LeftOut(what="paths, addresses and host names of settings and commands", why="they say where it ran"),
    LeftOut(what="environment variables that are not of the engine", why="they say whose machine it was"),
    LeftOut(what="buckets of histograms on counter pages", why="no verdict rests on them"),
    LeftOut(what="response headers but type, length and encoding", why="proxies write names into them"),
)  # fmt: skip
WITHOUT_REPLIES = LeftOut(
    what="replies, code executions and every message that may quote them",
    why="the publisher's declared choice",
)


@dataclasses.dataclass(frozen=True)
class Published:
    record: Publication
    root: Path


def publish(source: RunFolder, destination: Path, replies: Replies) -> Published:
    """A published copy at `destination`, which must not exist. Refused whole if anything is found in it."""
    _refuse_changed(source)
    if destination.exists():
        raise UsageError(
            f"{destination} exists already; a published copy is made whole, in a place of its own"
        )
    plan_file = read_plan(source)
    known = identifiers_of(source, plan_file.plan)
    with _beside(destination) as root:
        copy = RunFolder(root)
        record = _copy(source, copy, plan_file, known, replies)
        write_model(copy.publication, record)
        write_atomically(root / "METHODOLOGY.md", methodology(record, read_plan(copy).plan).encode())
        write_sums(root)
        record = _searched(root, known, record)
        write_model(copy.publication, record)
        write_sums(root)
        root.rename(destination)
    return Published(record, destination)


def _refuse_changed(source: RunFolder) -> None:
    """What is published is what the run left. A run from before checksums has none to hold it to."""
    if not (source.root / NAME).exists():
        return
    result = verify(source.root)
    if not result.intact:
        first = [*result.changed, *result.missing, *result.extra][0]
        raise RecordError(
            f"{source.root} is not what the run left ({first}); armgate verify names everything"
        )


@contextlib.contextmanager
def _beside(destination: Path) -> Iterator[Path]:
    """A folder next to the destination, gone again if it was not moved there."""
    destination.parent.mkdir(parents=True, exist_ok=True)
    root = Path(tempfile.mkdtemp(prefix=f".{destination.name}.", dir=destination.parent))
    try:
        root.chmod(0o755)
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _copy(
    source: RunFolder, copy: RunFolder, plan_file: PlanFile, known: Identifiers, replies: Replies
) -> Publication:
    hide = Withholder(known.words())
    plan = published_plan(plan_file.plan, hide)
    changes = {"digest": plan.digest(), "plan": plan, "campaign_file": hide.text(plan_file.campaign_file)}
    write_model(copy.plan, plan_file.model_copy(update=changes))
    begun = boots_begun(source, plan_file.plan)
    for boot in begun:
        copy_boot(source.boot(boot.arm, boot.boot), copy.boot(boot.arm, boot.boot), hide, replies)
    write_derived(copy, plan, begun, was_interrupted(copy, begun))
    if replies == "yes":
        _judge_again(source, copy, plan)
    before = read_publication(source)
    run_digest = plan_file.digest if before is None else before.source_plan_digest
    write_model(copy.publication, _record(copy, run_digest, plan, replies))
    for name, data in report_files(run_facts(copy)).items():
        write_atomically(copy.root / name, data)
    return _record(copy, run_digest, plan, replies)


def _judge_again(source: RunFolder, copy: RunFolder, plan: Plan) -> None:
    """The copy carries its own proof: every outcome again from the copied evidence, as the source has it."""
    again = rejudge(copy)
    for name, data in again.files.items():
        write_atomically(copy.root / name, data)
    for boot in boots_begun(copy, plan):
        here = recorded_verdicts(copy.boot(boot.arm, boot.boot))
        there = recorded_verdicts(source.boot(boot.arm, boot.boot))
        differing = [gate for gate, verdict in here.items() if verdict.outcome is not there[gate].outcome]
        if differing:
            raise RecordError(
                f"the copy does not judge as the run did: {boot.arm} {differing[0]}; "
                "armgate judge shows whether the run itself still does"
            )


def _record(copy: RunFolder, source_digest: Digest, plan: Plan, replies: Replies) -> Publication:
    kinds = Counter(_kind(path) for path in files_of(copy.root))
    return Publication(
        armgate_version=plan.armgate_version,
        campaign=plan.campaign,
        source_plan_digest=source_digest,
        plan_digest=plan.digest(),
        replies=replies,
        re_judgeable=replies == "yes",
        left_out=ALWAYS_LEFT_OUT if replies == "yes" else (*ALWAYS_LEFT_OUT, WITHOUT_REPLIES),
        searched=(),
        copied=dict(sorted(kinds.items())),
    )


def _kind(path: str) -> str:
    """`exchanges`, `telemetry`, ... of a boot's folders; else the file's own name."""
    parts = Path(path).parts
    return parts[4] if len(parts) > 5 else parts[-1]


def _searched(root: Path, known: Identifiers, record: Publication) -> Publication:
    searched, found = scan(root, known.names, known.has_secret, known.secret_count)
    if found:
        where = "; ".join(sorted({f"{kind} in {path}" for kind, path in found})[:8])
        hint = "" if record.replies == "no" else " (--replies no leaves a model's words out)"
        raise RecordError(f"nothing was published: {where}{hint}")
    return record.model_copy(update={"searched": tuple(Searched.model_validate(one) for one in searched)})
