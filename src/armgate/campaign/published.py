"""A published experiment compared by the code that compares our runs: the same medians, claims and choice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from armgate.analysis.comparison import compare_arms, pooled_as_published
from armgate.analysis.draft_depth import DepthPoint, advise
from armgate.judging.counters import acceptance_from_counts
from armgate.judging.divergence import compare_pair
from armgate.loading.published import load_published
from armgate.loading.published_figures import load_published_table
from armgate.model.comparison import ArmFigures, Figure
from armgate.model.measures import Acceptance
from armgate.model.outcome import ArmVerdict
from armgate.model.published import (
    PublishedArm,
    PublishedComparison,
    PublishedControl,
    PublishedRow,
    PublishedTable,
    PublishedVariant,
)

METRIC = "decode_wall_rest"
"""(N-1)/(wall-TTFT), which the published figures follow."""
SOURCE = "published totals of the server's counters"


def compare_published(folder: Path) -> PublishedComparison:
    """Everything that the published table and the texts beside it carry, and what they do not."""
    table = load_published_table(folder)
    figures = [_figures(variant) for variant in table.variants]
    controls = tuple(_controls(table, load_published(folder)))
    advice = advise(table.reference, "all requests, pooled as published", _depths(table, figures))
    compared = compare_arms(figures, table.reference, METRIC)
    return PublishedComparison(
        comparison=compared.model_copy(update={"depths": (advice,) if advice is not None else ()}),
        pooled=pooled_as_published(figures, table.reference, METRIC),
        controls=controls,
        limits=tuple(_limits(table, controls)),
    )


def _figures(variant: PublishedVariant) -> ArmFigures:
    return ArmFigures(
        name=variant.name,
        arm=None,
        arm_verdict=ArmVerdict.ACCEPTED if variant.qualified else ArmVerdict.REJECTED,
        reasons=variant.reasons,
        figures=tuple(
            Figure(metric=METRIC, kind=row.kind, prompt=row.prompt, value=row.decode_wall_rest)
            for row in variant.rows
        ),
        acceptance=_acceptance(variant),
    )


def _depths(table: PublishedTable, figures: Sequence[ArmFigures]) -> list[DepthPoint]:
    """The counters were published as totals over all requests, so the rates are pooled here too."""
    return [
        DepthPoint(arm.name, variant.depth, tuple(one.value for one in arm.figures), arm.acceptance)
        for variant, arm in zip(table.variants, figures, strict=True)
    ]


def _acceptance(variant: PublishedVariant) -> Acceptance | None:
    drafts, proposed, accepted = variant.drafts, variant.draft_tokens, variant.accepted_tokens
    if drafts is None or proposed is None or accepted is None:
        return None
    return acceptance_from_counts(drafts, proposed, accepted, source=SOURCE)


def _controls(table: PublishedTable, arms: Mapping[str, PublishedArm]) -> Iterator[PublishedControl]:
    for variant in table.variants:
        for prompt in dict.fromkeys(row.prompt for row in variant.rows):
            rows = [row for row in variant.rows if row.prompt == prompt]
            if len(rows) > 1:
                yield _control(variant, rows, arms.get(variant.name))


def _control(
    variant: PublishedVariant, rows: list[PublishedRow], arm: PublishedArm | None
) -> PublishedControl:
    first, second = (arm.probes.get(row.label) if arm is not None else None for row in rows[:2])
    pair = None
    if first is not None and second is not None:
        pair = compare_pair(rows[1].label, second.response, rows[0].label, first.response)
    return PublishedControl(
        variant=variant.name,
        prompt=rows[0].prompt,
        completion_tokens=tuple(row.completion_tokens for row in rows),
        pair=pair,
    )


def _limits(table: PublishedTable, controls: tuple[PublishedControl, ...]) -> Iterator[str]:
    prompts = {row.prompt for variant in table.variants for row in variant.rows}
    rows = {len(variant.rows) for variant in table.variants}
    yield (
        f"{len(prompts)} prompts of {len(prompts)} kinds, sent again to make {max(rows)} requests a variant: "
        "repeats are no independent samples, and this data supports no interval"
    )
    yield "one boot of each variant: the boot and the variant cannot be told apart"
    unsteady = [one for one in controls if one.variant == table.reference and not one.repeated_itself]
    if unsteady:
        yield (
            f"A/A failed: {table.reference} did not repeat itself on "
            f"{', '.join(one.prompt for one in unsteady)}; the requests are unlike work, and a difference "
            "of answers is not put down to the draft"
        )
