"""Writes a grid out into its probes: one for each point, with a seed of its own and the same in every arm."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from armgate.model.gates import Probe
from armgate.model.haystack import HaystackSpec
from armgate.model.load import CacheState, Grid, GridPrompt, Prefix, derived_seed


def grid_probes(grid: Grid) -> Iterator[Probe]:
    """The points in the order prompt, context depth, cache state, concurrency; kinds are never pooled."""
    depths: tuple[int | None, ...] = grid.context_depths or (None,)
    states: tuple[CacheState | None, ...] = grid.cache or (None,)
    for prompt, depth, state, concurrency in product(grid.prompts, depths, states, grid.concurrency):
        yield _probe(grid, prompt, depth, state, concurrency)


def _probe(
    grid: Grid, prompt: GridPrompt, depth: int | None, state: CacheState | None, concurrency: int
) -> Probe:
    suffix = _suffix(grid, depth, state, concurrency)
    probe_id = f"{prompt.id}{suffix}"
    seed = derived_seed(grid.seed, probe_id)
    plain = {"prompt": prompt.prompt, "template": prompt.template, "variables": prompt.variables}
    return Probe(
        id=probe_id,
        kind=f"{prompt.kind or prompt.id}{suffix}",
        max_tokens=grid.output_tokens or grid.max_tokens or 1,
        samples=grid.runs * concurrency,
        warm_up=grid.warm_up,
        concurrency=concurrency,
        prefix=None if state is None else Prefix(cache=state, seed=seed),
        context_depth=depth,
        body={"ignore_eos": True} if grid.output_tokens is not None else {},
        stream=grid.stream,
        **plain if depth is None else {"haystack": _context(grid, prompt, depth, seed)},
    )


def _suffix(grid: Grid, depth: int | None, state: CacheState | None, concurrency: int) -> str:
    """What tells the points of a grid apart; an axis with one value needs no name."""
    parts = [
        f"-d{depth}" if depth is not None else "",
        f"-{state}" if len(grid.cache) > 1 else "",
        f"-c{concurrency}" if len(grid.concurrency) > 1 else "",
    ]
    return "".join(parts)


def _context(grid: Grid, prompt: GridPrompt, depth: int, seed: int) -> HaystackSpec:
    return HaystackSpec(
        target_tokens=depth + grid.input_tokens,
        filler=grid.filler,
        seed=seed,
        header="",
        footer="",
        question=prompt.prompt or "",
    )
