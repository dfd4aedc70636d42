"""Probes as they will be sent: a gate's shorthand written out, prompts rendered to messages and digested."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from armgate.loading.grids import grid_probes
from armgate.loading.haystacks import corpus_file, refuse_unbuildable
from armgate.loading.strict_yaml import read_text
from armgate.loading.templates import render
from armgate.loading.workspace import Workspace
from armgate.model.base import Json, digest_json
from armgate.model.gates import Gate, Probe
from armgate.model.haystack import CorpusFiller, HaystackSpec, Length, Sweep
from armgate.model.load import Grid
from armgate.model.plan import PlannedProbe


@dataclasses.dataclass(frozen=True)
class Rendered:
    """A planned probe and the files that it was made from."""

    planned: PlannedProbe
    files: tuple[Path, ...]


def expanded(gate: Gate, task_prompt: str | None) -> Gate:
    """The gate with its probes written out where a grid, a task or a haystack implies them."""
    if gate.grid is not None:
        return _with_grid(gate, gate.grid)
    if isinstance(gate.haystack, HaystackSpec) and not gate.probes:
        return gate.model_copy(update={"probes": tuple(_haystack_probes(gate, gate.haystack))})
    if task_prompt is not None:
        tokens = gate.options.get("max_tokens", 512)
        probe = Probe(id=gate.task or gate.id, prompt=task_prompt, max_tokens=tokens)
        return gate.model_copy(update={"probes": (probe,)})
    return gate


def _with_grid(gate: Gate, grid: Grid) -> Gate:
    options = dict(gate.options)
    if grid.output_tokens is not None:
        options["output_tokens"] = grid.output_tokens
    probes = tuple(grid_probes(grid))
    return gate.model_copy(update={"grid": None, "probes": probes, "options": options})


def _haystack_probes(gate: Gate, spec: HaystackSpec) -> list[Probe]:
    tokens = gate.options.get("max_tokens", 128)
    if gate.sweep is not None:
        return [
            Probe(id=cell_id(length, depth, seed), haystack=made, max_tokens=tokens, samples=samples)
            for length, depth, seed, made, samples in _cells(gate.sweep, spec)
        ]
    if gate.ask == "together":
        return [Probe(id="all-markers", haystack=spec, max_tokens=tokens)]
    return [
        Probe(
            id=marker.id,
            haystack=spec.model_copy(update={"markers": (marker,), "decoys": _decoys(spec, marker.id)}),
            max_tokens=tokens,
        )
        for marker in spec.markers
    ]


def cell_id(length: Length, depth: float, seed: int) -> str:
    """`4000.d50.s1`: tokens, per cent of the text, seed; safe as a file's name."""
    return f"{length}.d{100 * depth:g}.s{seed}"


def _cells(sweep: Sweep, spec: HaystackSpec) -> Iterator[tuple[Length, float, int, HaystackSpec, int]]:
    """Every cell of a sweep with its recipe, shortest first as declared, and how often it is sent."""
    for length, depth, seed in product(sweep.lengths, sweep.depths, sweep.seeds):
        markers = tuple(marker.model_copy(update={"depth": depth}) for marker in spec.markers)
        changes = {"target_tokens": length, "seed": seed, "markers": markers, "fresh_prefix": True}
        yield length, depth, seed, spec.model_copy(update=changes), 1 + sweep.repeats


def _decoys(spec: HaystackSpec, marker: str) -> tuple[object, ...]:
    return tuple(decoy for decoy in spec.decoys if decoy.of == marker)


def rendered(workspace: Workspace, probe: Probe) -> Rendered:
    """Render one probe. Haystacks are planned by their recipe: their text depends on the tokenizer."""
    messages: list[dict[str, Json]] = []
    files: tuple[Path, ...] = ()
    if probe.system is not None:
        messages.append({"role": "system", "content": probe.system})
    if probe.haystack is not None:
        if isinstance(probe.haystack.filler, CorpusFiller):
            files = (corpus_file(workspace, probe.haystack.filler),)
        refuse_unbuildable(probe.haystack)
        digest = digest_json({"system": probe.system, "haystack": probe.haystack.model_dump(mode="json")})
        return Rendered(_planned(probe, None, digest), files)
    if probe.messages is not None:
        messages += probe.messages
    else:
        text, files = _prompt(workspace, probe)
        messages.append({"role": "user", "content": text})
    return Rendered(_planned(probe, tuple(messages), digest_json(messages)), files)


def _prompt(workspace: Workspace, probe: Probe) -> tuple[str, tuple[Path, ...]]:
    if probe.template is None:
        return str(probe.prompt), ()
    path = workspace.path(probe.template)
    return render(read_text(path), probe.variables, path), (path,)


def _planned(probe: Probe, messages: tuple[dict[str, Json], ...] | None, digest: str) -> PlannedProbe:
    return PlannedProbe(
        id=probe.id, samples=probe.samples, warm_up=probe.warm_up, messages=messages, digest=digest
    )
