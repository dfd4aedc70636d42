"""Campaigns drawn at random with effects planted in them, and what the comparison says of each.

Run as a program it prints, over many seeds, how often it claims what is not there and finds what is.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import random
from collections.abc import Iterable

from armgate.analysis.comparison import compare_arms
from armgate.model.comparison import ArmFigures, Comparison, Figure, LossFigures, Parted, PassFail
from armgate.model.outcome import ArmVerdict

METRIC = "decode_wall"
KINDS = ("code", "prose")


@dataclasses.dataclass(frozen=True)
class World:
    """What is true of a simulated campaign. Spreads are standard deviations of a logarithm."""

    effect: float = 1.0
    """True ratio of the arm's speed to the reference's."""
    pass_drop: float = 0.0
    """How much less likely the arm passes a prompt than the reference."""
    divergences_per_1000: float = 4.0
    arm_divergences_per_1000: float = 4.0
    prompts: int = 10
    runs: int = 2
    boots: int = 1
    """Of the reference; of the arm too, unless it has a number of its own."""
    arm_boots: int | None = None
    noise: float = 0.03
    boot_spread: float = 0.0
    interaction: float = 0.02
    """How much an arm's speed differs from prompt to prompt beyond its mean effect."""


@dataclasses.dataclass
class Tally:
    """Claims that were looked at over many campaigns, and those that said `different`."""

    looked_at: int = 0
    different: int = 0
    of_the_arm: int = 0
    """Of these, claims that name the arm alone as the cause."""

    def add(self, claims: Iterable[tuple[str, str | None]]) -> None:
        for claim, attributed_to in claims:
            self.looked_at += 1
            self.different += claim == "different"
            self.of_the_arm += attributed_to == "arm"

    @property
    def share(self) -> float:
        return self.different / self.looked_at

    @property
    def share_of_the_arm(self) -> float:
        return self.of_the_arm / self.looked_at


@dataclasses.dataclass
class Result:
    speed: Tally = dataclasses.field(default_factory=Tally)
    verdicts: Tally = dataclasses.field(default_factory=Tally)
    divergence: Tally = dataclasses.field(default_factory=Tally)
    campaigns: int = 0
    with_any: int = 0
    winners: int = 0

    def add(self, found: Comparison) -> None:
        versus = next(arm for arm in found.arms if arm.name == "arm").versus[0]
        groups = (versus.contrasts, versus.gates, versus.losses)
        for tally, claims in zip((self.speed, self.verdicts, self.divergence), groups, strict=True):
            tally.add((one.claim, one.attributed_to) for one in claims)
        self.campaigns += 1
        self.with_any += any(one.claim == "different" for claims in groups for one in claims)
        self.winners += found.choice.status == "winner"


def campaign(world: World, seed: int) -> Comparison:
    """One campaign of a reference and an arm, compared by the product."""
    chance = random.Random(seed)
    pace = {f"{kind}-{n}": chance.gauss(0, 0.3) for kind in KINDS for n in range(world.prompts)}
    easy = {f"q{n}": chance.choices((0.98, 0.05), (4, 1))[0] for n in range(2 * world.prompts)}
    base = _arm(chance, world, "base", pace, easy)
    arm = _arm(chance, world, "arm", pace, easy)
    return compare_arms([base, arm], "base", METRIC)


def simulate(world: World, seeds: Iterable[int]) -> Result:
    result = Result()
    for seed in seeds:
        result.add(campaign(world, seed))
    return result


def _arm(
    chance: random.Random, world: World, name: str, pace: dict[str, float], easy: dict[str, float]
) -> ArmFigures:
    ours = name == "arm"
    shift = math.log(world.effect) if ours else 0.0
    own = {prompt: shift + (chance.gauss(0, world.interaction) if ours else 0.0) for prompt in pace}
    figures, passes = [], []
    boots = world.arm_boots if ours and world.arm_boots is not None else world.boots
    for boot in range(boots):
        boot_shift = chance.gauss(0, world.boot_spread)
        for prompt, at in pace.items():
            for _ in range(world.runs):
                value = 20 * math.exp(at + own[prompt] + boot_shift + chance.gauss(0, world.noise))
                kind = prompt.partition("-")[0]
                figures.append(Figure(metric=METRIC, kind=kind, prompt=prompt, value=value, boot=boot))
        for prompt, likely in easy.items():
            for run in range(2):
                passed = chance.random() < likely - (world.pass_drop if ours else 0.0)
                sample = f"{prompt}.{run}"
                passes.append(
                    PassFail(gate="form", kind="form", prompt=prompt, sample=sample, passed=passed, boot=boot)
                )
    return ArmFigures(
        name=name,
        arm=None,
        arm_verdict=ArmVerdict.ACCEPTED,
        figures=tuple(figures),
        passes=tuple(passes),
        losses=(_loss(chance, world),) if ours else (),
    )


def _loss(chance: random.Random, world: World) -> LossFigures:
    arm = _parted(chance, world.arm_divergences_per_1000)
    control = _parted(chance, world.divergences_per_1000)
    return LossFigures(gate="lossless", against="base", arm=arm, control=control)


def _parted(chance: random.Random, per_1000: float, prompts: int = 20, cap: int = 200) -> Parted:
    """First divergences of `prompts` answers of `cap` tokens, exposure ending at each."""
    events = tokens = 0
    for _ in range(prompts):
        until = math.ceil(chance.expovariate(per_1000 / 1000)) if per_1000 else cap + 1
        events += until <= cap
        tokens += min(until, cap)
    rate = 1000 * events / tokens
    return Parted(events=events, tokens=tokens, prompts=prompts, per_1000_tokens=rate, interval=None)


WORLDS = {
    "nothing planted, one boot each": World(),
    "nothing planted, boots differ by 3%, one boot each": World(boot_spread=0.03),
    "nothing planted, boots differ by 3%, four boots each": World(boot_spread=0.03, boots=4),
    "nothing planted, one boot against four of the reference": World(boots=4, arm_boots=1),
    "nothing planted, four boots against one of the reference": World(arm_boots=4),
    "nothing planted, boots differ by 20%, one boot each": World(boot_spread=0.2),
    "nothing planted, boots differ by 20%, four boots each": World(boot_spread=0.2, boots=4),
    **{f"{effect - 1:+.0%} speed": World(effect=effect) for effect in (1.03, 1.05, 1.1, 1.2, 1.35)},
    "+20% speed, boots differ by 3%, four boots each": World(effect=1.2, boot_spread=0.03, boots=4),
    "verdicts 30 points worse": World(pass_drop=0.3),
    "verdicts 60 points worse": World(pass_drop=0.6),
    "three times the divergences": World(arm_divergences_per_1000=12.0),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1000)
    seeds = range(parser.parse_args().seeds)
    print(
        f"{len(seeds)} campaigns of each; share of claims that say `different` (and that name the arm alone)"
    )
    print(f"{'':57}{'speed':>16}{'verdicts':>16}{'divergence':>16}{'any claim':>11}{'a winner':>10}")
    for says, world in WORLDS.items():
        found = simulate(world, seeds)
        tallies = (found.speed, found.verdicts, found.divergence)
        shares = [f"{one.share:.1%} ({one.share_of_the_arm:.1%})" for one in tallies]
        any_claim, winner = found.with_any / found.campaigns, found.winners / found.campaigns
        print(f"{says:57}" + "".join(f"{s:>16}" for s in shares) + f"{any_claim:>11.1%}{winner:>10.1%}")


if __name__ == "__main__":
    main()
