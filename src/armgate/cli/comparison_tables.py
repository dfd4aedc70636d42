"""Tables of a comparison for people: arms with speed and reasons, claims, and what they rest on."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from armgate.cli.output import inert
from armgate.model.comparison import ArmComparison, Choice, Comparison, Summary
from armgate.model.draft_depth import DepthAdvice
from armgate.model.measures import Interval


def arms_table(made: Comparison) -> Table:
    """Every arm with its figures by kind; the reason of one that is not qualified stands beside its speed."""
    table = _table("arms", ("arm", "verdict", "metric", "kind", "median (range, n)", "interval", "reasons"))
    for arm in made.arms:
        for summary in arm.summaries or (None,):
            table.add_row(*_arm_row(arm, summary))
    return table


def _arm_row(arm: ArmComparison, summary: Summary | None) -> tuple[str, ...]:
    reasons = inert("; ".join(arm.reasons))
    if summary is None:
        return (arm.name, arm.arm_verdict.value, "", "", "nothing measured", "", reasons)
    figures = f"{summary.median:.4g} ({summary.low:.4g} to {summary.high:.4g}, n={summary.n})"
    interval = summary.interval_absent or ""
    if summary.interval is not None:
        interval = interval_words(summary.interval)
    return (arm.name, arm.arm_verdict.value, summary.metric, summary.kind, figures, interval, reasons)


def claims_table(made: Comparison) -> Table:
    """One row for every claim that was looked at, also where nothing can be said."""
    table = _table("claims", ("arm", "against", "factor", "about", "figure", "claim", "attributed to", "why"))
    for row in _claims(made):
        table.add_row(*row)
    return table


def _claims(made: Comparison) -> Iterator[tuple[str, ...]]:
    for arm in made.arms:
        for versus in arm.versus:
            head = (arm.name, versus.reference, inert(versus.attribution.factor))
            for one in versus.contrasts:
                about, figure = f"{one.metric} on {one.kind}", f"ratio {one.ratio:.3f}"
                yield (*head, about, figure, *_ends(one.claim, one.attributed_to, one.why))
            for gate in versus.gates:
                figure = f"+{gate.only_arm_passed} -{gate.only_reference_passed} of {gate.prompts}"
                yield (*head, gate.gate, figure, *_ends(gate.claim, gate.attributed_to, gate.why))
            for loss in versus.losses:
                rate = loss.divergence.per_1000_tokens
                figure = "none" if rate is None else f"{rate:.2f} divergences per 1,000 tokens"
                yield (*head, loss.gate, figure, *_ends(loss.claim, loss.attributed_to, loss.why))


def _ends(claim: str, attributed_to: str | None, why: str) -> tuple[str, str, str]:
    return claim.replace("_", " "), (attributed_to or "").replace("_", " "), inert(why)


def depth_lines(advice: DepthAdvice) -> Iterator[str]:
    """What was run, what the other depths would give, and how good such a prediction was."""
    yield f"draft depth on {advice.kind}, against {advice.reference}: {advice.statement}"
    for row in advice.rows:
        accepted = "no draft" if row.acceptance_rate is None else f"acceptance {row.acceptance_rate:.1%}"
        yield (
            f"  depth {row.depth}: {row.tok_s:.1f} tok/s, {accepted}, {row.mean_length:.2f} tokens a step, "
            f"{1000 * row.step_s:.1f} ms a step"
        )
    for check in advice.checks:
        one = check.predicted
        yield (
            f"  depth {one.depth} predicted from the others: {one.tok_s:.1f} tok/s "
            f"({one.low:.1f} to {one.high:.1f}), measured {check.measured_tok_s:.1f}"
        )
    yield from (f"  {note}" for note in advice.notes)


def choice_lines(choice: Choice) -> Iterator[str]:
    """The choice, the ranking it rests on, and the fastest arm apart."""
    yield inert(choice.statement)
    for place in choice.ranking:
        interval = f", {interval_words(place.interval)}" if place.interval is not None else ""
        yield f"  {place.name}: {place.score:.3f} times the reference by {choice.metric}{interval}"
    if choice.fastest is not None and choice.fastest not in (choice.winner, *choice.tied):
        yield f"best by {choice.metric}, a measurement and not a candidate: {choice.fastest}"


def interval_words(interval: Interval) -> str:
    high = "no upper end" if interval.high is None else f"{interval.high:.4g}"
    return f"{interval.level:.0%} {interval.low:.4g} to {high} ({interval.method})"


def _table(title: str, headings: tuple[str, ...]) -> Table:
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table
