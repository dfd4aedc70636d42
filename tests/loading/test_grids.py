from pathlib import Path

import pytest

from armgate.campaign.known import known
from armgate.loading.grids import grid_probes
from armgate.loading.plan import make_plan
from armgate.loading.strict_yaml import load_document, validate
from armgate.loading.workspace import Workspace
from armgate.model.gates import Ladder
from armgate.model.load import Grid, GridPrompt

ROOT = Path(__file__).resolve().parents[2]
PROMPTS = (GridPrompt(id="code", prompt="write code"), GridPrompt(id="prose", prompt="write prose"))


def test_every_point_is_a_probe_with_whole_batches_and_a_kind_of_its_own() -> None:
    grid = Grid(
        prompts=PROMPTS,
        context_depths=(0, 1000),
        concurrency=(1, 3),
        cache=("fresh", "warm"),
        runs=2,
        warm_up=1,
        output_tokens=64,
    )
    probes = list(grid_probes(grid))
    assert len(probes) == len({probe.id for probe in probes}) == len({probe.kind for probe in probes}) == 16
    assert sum(probe.samples for probe in probes) == 2 * 2 * 2 * 2 * (1 + 3)
    last = probes[-1]
    assert (last.id, last.samples, last.concurrency) == ("prose-d1000-warm-c3", 6, 3)
    assert last.haystack is not None
    assert (last.haystack.target_tokens, last.haystack.question) == (1512, "write prose")
    assert (last.max_tokens, last.body, last.context_depth) == (64, {"ignore_eos": True}, 1000)


def test_points_never_share_a_seed_and_the_grids_own_seed_moves_them_all() -> None:
    def seeds(seed: int) -> set[int]:
        grid = Grid(prompts=PROMPTS, context_depths=(0, 9), cache=("fresh",), runs=1, max_tokens=5, seed=seed)
        return {probe.prefix.seed for probe in grid_probes(grid) if probe.prefix is not None}

    assert len(seeds(1)) == 4
    assert seeds(1) == seeds(1)
    assert not seeds(1) & seeds(2)


def test_a_natural_length_asks_nothing_of_the_engine() -> None:
    (probe,) = grid_probes(Grid(prompts=PROMPTS[:1], runs=3, max_tokens=99))
    assert (probe.id, probe.prompt, probe.max_tokens, probe.body) == ("code", "write code", 99, {})


@pytest.mark.parametrize(
    ("ladder", "gate", "points", "samples"),
    [
        ("context-grid", "sweep", 14, 28),
        ("context-grid", "matrix", 42, 196),
        ("decode-grid", "decode", 2, 10),
    ],
)
def test_the_shipped_grids_have_the_published_counts(
    ladder: str, gate: str, points: int, samples: int
) -> None:
    loaded = validate(load_document(ROOT / "gates" / f"{ladder}.yaml"), Ladder)
    declared = next(one for one in loaded.gates if one.id == gate)
    assert declared.grid is not None
    probes = list(grid_probes(declared.grid))
    assert (len(probes), sum(probe.samples for probe in probes)) == (points, samples)


def test_the_plan_holds_every_point_and_counts_every_request() -> None:
    workspace = Workspace(ROOT)
    plan = make_plan(workspace, ROOT / "campaigns" / "two-spark-context.yaml", known())
    sweep, matrix = plan.gate("sweep"), plan.gate("matrix")
    assert (len(sweep.probes), sweep.samples, len(matrix.probes), matrix.samples) == (14, 28, 42, 196)
    assert sweep.gate.options["output_tokens"] == 256
    assert plan.counts.requests == 2 * (1 + 2 + 28 + 14 + 196 + 42)
    lengths = [probe.haystack.target_tokens for probe in sweep.gate.probes if probe.haystack is not None]
    assert (min(lengths), max(lengths)) == (512, 65_536 + 512)
