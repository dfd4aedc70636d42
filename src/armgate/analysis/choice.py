"""The choice among qualified arms by one metric: a tie is said to be one, the unqualified cannot win."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import Literal, TypeAlias

from armgate.analysis.contrasts import figures_of, paired_logs, ratio_interval
from armgate.analysis.statistics import ALPHA, WIDER, geometric_mean
from armgate.model.comparison import ArmFigures, Choice, Contrast, FinalBoot, NoiseFloor, Ranked
from armgate.model.measures import Interval

Contrasting: TypeAlias = Callable[[ArmFigures, ArmFigures, str, str, Sequence[NoiseFloor]], Contrast | None]

Status: TypeAlias = Literal["winner", "tie", "insufficient_evidence", "none_qualifies"]

NONE_QUALIFIES = "no winner: reference retained, unqualified"


def choose(
    arms: Sequence[ArmFigures],
    reference: ArmFigures,
    metric: str,
    noise: Sequence[NoiseFloor],
    contrast: Contrasting,
    higher_is_better: bool = True,
) -> Choice:
    """The best qualified arm by `metric`, if the evidence tells it from every other qualified arm."""
    measured = _ranking(arms, reference, metric, higher_is_better)
    qualified = [arm for arm in arms if arm.qualified]
    ranking = _ranking(qualified, reference, metric, higher_is_better)
    status, tied, statement = _decision(qualified, ranking, metric, noise, contrast, higher_is_better)
    return Choice(
        status=status,
        metric=metric,
        winner=tied[0] if status == "winner" else None,
        statement=statement,
        ranking=tuple(ranking),
        tied=tied if status == "tie" else (),
        fastest=measured[0].name if measured else None,
    )


def settled(choice: Choice, final: FinalBoot, base_qualified: bool) -> Choice:
    """The choice after the final boot: a winner stands only if its last boot passed the ladder again."""
    if choice.winner is None or choice.winner != final.arm or final.state == "held":
        held = f"{choice.statement}; it passed the ladder again on its final boot"
        return choice.model_copy(update={"statement": held}) if final.state == "held" else choice
    if final.state == "did_not_hold":
        status, why = "none_qualifies", "did not pass the ladder again on its final boot"
    else:
        status, why = "insufficient_evidence", "has a final boot that did not run to a verdict"
    kept = "reference retained" + ("" if base_qualified else ", unqualified")
    statement = f"no winner: {choice.winner} was chosen and {why}; {kept}"
    return choice.model_copy(update={"status": status, "winner": None, "statement": statement})


def _decision(
    qualified: Sequence[ArmFigures],
    ranking: Sequence[Ranked],
    metric: str,
    noise: Sequence[NoiseFloor],
    contrast: Contrasting,
    higher_is_better: bool,
) -> tuple[Status, tuple[str, ...], str]:
    """The status, the arms that share the first place, and both in words."""
    by_name = {arm.name: arm for arm in qualified}
    if not by_name:
        return "none_qualifies", (), NONE_QUALIFIES
    if len(by_name) == 1:
        only = qualified[0].name
        return "winner", (only,), f"{only} is the only qualified arm"
    unranked = sorted(by_name.keys() - {place.name for place in ranking})
    if unranked:
        return "insufficient_evidence", (), f"no {metric} to compare for {', '.join(unranked)}"
    top = by_name[ranking[0].name]
    kinds = _kinds(top, metric)
    found = {
        place.name: [contrast(top, by_name[place.name], metric, kind, noise) for kind in kinds]
        for place in ranking[1:]
    }
    unclear = [name for name, contrasts in found.items() if not _sufficient(contrasts)]
    if unclear:
        return "insufficient_evidence", (), f"too little to tell {top.name} from {', '.join(unclear)}"
    unbeaten = [name for name, contrasts in found.items() if not _beats(contrasts, higher_is_better)]
    if unbeaten:
        return "tie", (top.name, *unbeaten), f"tie: {top.name} is not shown to beat {', '.join(unbeaten)}"
    by_boots = all(one.attributed_to == "arm" for each in found.values() for one in _different(each))
    caveat = "" if by_boots else "; too few boots to tell the arms from single starts of them"
    return "winner", (top.name,), f"{top.name} is better than every other qualified arm by {metric}{caveat}"


def _sufficient(contrasts: Sequence[Contrast | None]) -> bool:
    return all(one is not None and one.claim != "insufficient_evidence" for one in contrasts)


def _beats(contrasts: Sequence[Contrast | None], higher_is_better: bool) -> bool:
    """Better on at least one kind of prompt and worse on none."""
    different = _different(contrasts)
    return bool(different) and all((one.ratio > 1) is higher_is_better for one in different)


def _different(contrasts: Sequence[Contrast | None]) -> list[Contrast]:
    return [one for one in contrasts if one is not None and one.claim == "different"]


def _ranking(
    arms: Sequence[ArmFigures], reference: ArmFigures, metric: str, higher_is_better: bool
) -> list[Ranked]:
    """Arms that have the metric on every kind of prompt that the reference has, best first."""
    kinds = _kinds(reference, metric)
    scored = []
    for arm in arms:
        ratios = [_ratio(arm, reference, metric, kind) for kind in kinds]
        known = [ratio for ratio in ratios if ratio is not None]
        if known and len(known) == len(ratios):
            interval = None if arm.name == reference.name else _score_interval(arm, reference, metric, kinds)
            scored.append(Ranked(name=arm.name, score=geometric_mean(known), interval=interval))
    return sorted(scored, key=lambda place: place.score, reverse=higher_is_better)


def _ratio(arm: ArmFigures, reference: ArmFigures, metric: str, kind: str) -> float | None:
    ours, theirs = _values(arm, metric, kind), _values(reference, metric, kind)
    if not ours or not theirs or min(*ours, *theirs) <= 0:
        return None
    return median(ours) / median(theirs)


def _score_interval(
    arm: ArmFigures, reference: ArmFigures, metric: str, kinds: Sequence[str]
) -> Interval | None:
    """Each kind's interval at the level that leaves 95% for all of them together (Bonferroni), then the
    geometric mean of their ends: at least 95% for the score."""
    logs = [paired_logs(figures_of(arm, metric, k), figures_of(reference, metric, k)) for k in kinds]
    found = [ratio_interval(each, 1 - ALPHA / len(kinds)) for each in logs]
    lows = [one.low for one in found if one is not None]
    highs = [one.high for one in found if one is not None and one.high is not None]
    if len(lows) < len(kinds) or len(highs) < len(kinds):
        return None
    joined = ", kinds joined by Bonferroni" if len(kinds) > 1 else ""
    return Interval(
        low=geometric_mean(lows),
        high=geometric_mean(highs),
        level=1 - ALPHA,
        method=f"{WIDER} of the median ratio over prompts{joined}",
    )


def _values(arm: ArmFigures, metric: str, kind: str) -> list[float]:
    return [f.value for f in arm.figures if f.metric == metric and f.kind == kind]


def _kinds(arm: ArmFigures, metric: str) -> list[str]:
    return list(dict.fromkeys(f.kind for f in arm.figures if f.metric == metric))
