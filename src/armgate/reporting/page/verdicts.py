"""Verdicts as the page shows them: each with its violations, its samples' replies, and what caused a skip."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote

from armgate.model.base import Json
from armgate.model.outcome import Outcome, SampleVerdict, Verdict, Violation
from armgate.reporting.facts import BootFacts, Reply, RunFacts
from armgate.reporting.page.marking import Shown, shown
from armgate.reporting.page.places import boot_id, file_link, replies_file, reply_id, verdict_id

SIGNS = {
    Outcome.PASSED: "+",
    Outcome.FAILED: "x",
    Outcome.SKIPPED: "-",
    Outcome.VOID: "?",
    Outcome.ERRORED: "!",
}
MESSAGE_CHARS = 600
PAGE_REPLY_BYTES = 800_000
"""Of replies in the whole page; beyond it a reply is one click away, on its boot's own page."""
EXCERPT_BYTES = 1_500
SAMPLES_SHOWN = 24
SAMPLES_ON_PAGE = 600
"""Of a run with more, the samples that passed stand only on their boots' own pages."""
FULL_BYTES = 200_000
"""Of one reply on its boot's own page; the exchange beside it has every byte."""


@dataclasses.dataclass(frozen=True)
class ChannelView:
    name: str
    text: Shown
    size_bytes: int


@dataclasses.dataclass(frozen=True)
class ViolationView:
    number: int
    clause: str
    message: str
    where: str


@dataclasses.dataclass(frozen=True)
class SampleView:
    """One sample. `channels` is empty where its reply is not in this document."""

    id: str
    anchor: str
    outcome: Outcome
    sign: str
    cause: str | None
    message: str | None
    violations: tuple[ViolationView, ...]
    facts: str
    channels: tuple[ChannelView, ...]
    files: tuple[tuple[str, str], ...]
    """(path, link) of the evidence."""
    reply_link: str | None


@dataclasses.dataclass(frozen=True)
class VerdictView:
    anchor: str
    gate: str
    check: str
    family: str
    required: bool
    why: str
    outcome: Outcome
    sign: str
    message: str
    cause: str | None
    because_of: str | None
    because_link: str | None
    violations: tuple[ViolationView, ...]
    findings: tuple[str, ...]
    diagnostics: tuple[str, ...]
    bounds: tuple[int, int] | None
    samples: tuple[SampleView, ...]
    more_samples: int
    more_link: str | None
    """The page of this boot's replies, where there is one."""


@dataclasses.dataclass(frozen=True)
class BootView:
    """All verdicts of one boot. `index` numbers the arm, for the filter."""

    index: int
    arm: str
    boot: int
    title: str
    verdicts: tuple[VerdictView, ...]


class Room:
    """Bytes of replies that a document may still take."""

    def __init__(self, total: int, each: int) -> None:
        self.left, self.each = total, each

    def take(self, text: str, spans: Mapping[int, tuple[int, int]]) -> Shown | None:
        if self.left <= 0:
            return None
        made = shown(text, spans, min(self.each, self.left))
        self.left -= len(made.html.encode())
        return made


def boot_views(run: RunFacts) -> tuple[BootView, ...]:
    """Every boot's verdicts in the order of the plan. Replies of failed samples claim room first."""
    room = Room(PAGE_REPLY_BYTES, EXCERPT_BYTES)
    brief = sum(len(verdict.samples) for *_, verdict in run.verdicts()) > SAMPLES_ON_PAGE
    failing = {
        id(sample): _channels(facts, sample, room)
        for facts in run.boots.values()
        for verdict in facts.verdicts.values()
        for sample in _on_page(verdict, brief=True)
    }
    arms = list(run.plan_file.plan.arms)
    return tuple(
        BootView(
            index=arms.index(arm),
            arm=arm,
            boot=boot,
            title=arm if _boots_of(run, arm) == 1 else f"{arm}, boot {boot:02d}",
            verdicts=tuple(_verdicts(run, arm, boot, failing, room, brief)),
        )
        for arm, boot in run.boots
    )


def _on_page(verdict: Verdict, brief: bool) -> Sequence[SampleVerdict]:
    chosen = [s for s in verdict.samples if not brief or s.outcome is not Outcome.PASSED]
    return chosen[:SAMPLES_SHOWN]


def _boots_of(run: RunFacts, arm: str) -> int:
    return sum(name == arm for name, _ in run.boots)


Replies = dict[int, tuple[ChannelView, ...]]


def _verdicts(
    run: RunFacts, arm: str, boot: int, ready: Replies, room: Room, brief: bool
) -> Iterator[VerdictView]:
    facts = run.boots[arm, boot]
    whys = {planned.gate.id: planned.gate.why for planned in run.plan_file.plan.gates}
    for gate in run.plan_file.plan.gate_ids:
        if gate not in facts.verdicts:
            continue
        verdict = facts.verdicts[gate]
        samples = [
            sample_view(
                facts, arm, boot, gate, sample,
                ready[id(sample)] if id(sample) in ready else _channels(facts, sample, room),
            )
            for sample in _on_page(verdict, brief)
        ]  # fmt: skip
        yield _view(arm, boot, verdict, whys.get(gate, "pins asked = pins observed"), samples, facts)


def _view(
    arm: str, boot: int, verdict: Verdict, why: str, samples: Sequence[SampleView], facts: BootFacts
) -> VerdictView:
    because = verdict.because_of
    return VerdictView(
        anchor=verdict_id(arm, boot, verdict.gate),
        gate=verdict.gate,
        check=verdict.check,
        family=verdict.family.value,
        required=verdict.required,
        why=why,
        outcome=verdict.outcome,
        sign=SIGNS[verdict.outcome],
        message=cut(verdict.message or verdict.cause or ""),
        cause=verdict.cause,
        because_of=because,
        because_link=_because_link(arm, boot, because, facts),
        violations=_violations(verdict.violations),
        findings=tuple(f"{f.kind}: {cut(f.message)}" for f in verdict.findings),
        diagnostics=tuple(f"{d.kind}: {cut(d.message)}" for d in verdict.diagnostics),
        bounds=verdict.open_bounds,
        samples=tuple(samples),
        more_samples=len(verdict.samples) - len(samples),
        more_link=quote(replies_file(arm, boot)) if facts.replies else None,
    )


def _because_link(arm: str, boot: int, because: str | None, facts: BootFacts) -> str | None:
    """The gate that caused a skip; for a condition, the boot whose state it is."""
    if because is None:
        return None
    return "#" + (verdict_id(arm, boot, because) if because in facts.verdicts else boot_id(arm, boot))


def own_sample_view(facts: BootFacts, gate: str, sample: SampleVerdict, room: Room) -> SampleView:
    """A sample on its boot's own page, which lies beside the boot's files."""
    made = sample_view(facts, "", 0, gate, sample, _channels(facts, sample, room))
    files = tuple((path, quote(path)) for path in sample.evidence)
    return dataclasses.replace(made, files=files, reply_link=None)


def sample_view(
    facts: BootFacts, arm: str, boot: int, gate: str, sample: SampleVerdict, channels: tuple[ChannelView, ...]
) -> SampleView:
    reply = facts.reply_of(sample)
    anchor = reply_id(gate, sample.sample)
    message = sample.detail.get("message")
    return SampleView(
        id=sample.sample,
        anchor=anchor,
        outcome=sample.outcome,
        sign=SIGNS[sample.outcome],
        cause=sample.cause,
        message=cut(message) if isinstance(message, str) and message else None,
        violations=_violations(sample.violations),
        facts=_facts(reply),
        channels=channels,
        files=tuple((path, file_link(arm, boot, path)) for path in sample.evidence),
        reply_link=f"{quote(replies_file(arm, boot))}#{anchor}" if reply else None,
    )


def _channels(facts: BootFacts, sample: SampleVerdict, room: Room) -> tuple[ChannelView, ...]:
    reply = facts.reply_of(sample)
    return () if reply is None else tuple(channel_views(reply, sample, room))


def channel_views(reply: Reply, sample: SampleVerdict, room: Room) -> Iterator[ChannelView]:
    """The channels of a reply with the sample's violations marked; a sole channel takes unnamed spans too."""
    for name, text in reply.channels.items():
        spans = {
            number: violation.span
            for number, violation in enumerate(sample.violations, 1)
            if violation.span is not None and violation.channel in (name, None)
        }
        drawn = room.take(text, spans)
        if drawn is not None:
            yield ChannelView(name, drawn, len(text.encode("utf-8", "surrogatepass")))


def _violations(violations: Sequence[Violation]) -> tuple[ViolationView, ...]:
    return tuple(
        ViolationView(number, violation.clause, cut(violation.message), _where(violation))
        for number, violation in enumerate(violations, 1)
    )


def _where(violation: Violation) -> str:
    if violation.span is None:
        return violation.channel or ""
    start, end = violation.span
    return f"bytes {start:,} to {end:,}" + (f" of {violation.channel}" if violation.channel else "")


def _facts(reply: Reply | None) -> str:
    """What came back, in a line: status, fate, finish reason, counts and times."""
    if reply is None:
        return ""
    parts: list[tuple[str, Json]] = [
        ("HTTP", reply.status),
        ("", reply.fate),
        ("finish", reply.finish_reason),
        ("prompt tokens", reply.prompt_tokens),
        ("cached", reply.cached_tokens),
        ("completion tokens", reply.completion_tokens),
        ("TTFT s", f"{reply.ttft_s:.3f}" if reply.ttft_s is not None else None),
        ("wall s", f"{reply.wall_s:.3f}" if reply.wall_s is not None else None),
        ("masked secrets", reply.masked or None),
    ]
    return ", ".join(f"{name} {value}".strip() for name, value in parts if value is not None)


def cut(text: str) -> str:
    return text if len(text) <= MESSAGE_CHARS else f"{text[:MESSAGE_CHARS]} (cut here)"
