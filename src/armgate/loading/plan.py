"""The plan: names resolved, prompts rendered, every input digested and counted, before anything is booted."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

import armgate
from armgate.errors import DeclarationError, Problem
from armgate.loading.boots import planned_boots, replay_problems
from armgate.loading.campaigns import LoadedCampaign, load_campaign, resolve_campaign
from armgate.loading.contracts import load_contract
from armgate.loading.haystacks import named_haystack, recipe_problems
from armgate.loading.probes import Rendered, expanded, rendered
from armgate.loading.strict_yaml import Document, load_document, nearest, parse_document, validate
from armgate.loading.tasks import load_task
from armgate.loading.templates import render
from armgate.loading.workspace import Workspace
from armgate.model.base import digest_bytes
from armgate.model.contract import Contract
from armgate.model.gates import Gate, Ladder
from armgate.model.outcome import Family
from armgate.model.plan import Plan, PlannedGate, count
from armgate.model.task import LoadedTask


@dataclasses.dataclass(frozen=True)
class Known:
    """What the rest of the program offers to a campaign, told by the layer above."""

    engines: Mapping[str, frozenset[str]]
    """Engine name -> serve settings that Armgate sets itself."""
    families: Mapping[str, Family]
    """Check name -> the family of its gates."""
    comparing: frozenset[str]
    """Checks that compare an arm's samples with its reference's."""
    gate_problems: Callable[[Gate], Sequence[tuple[str, str]]]
    contract_problems: Callable[[Contract], Sequence[str]]
    """Examples of a contract that do not hold."""
    attach_only: frozenset[str] = frozenset()
    """Engines that Armgate knows no way to start."""


class _Inputs:
    """Every file that the plan rests on, with its digest."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.digests: dict[str, str] = {}

    def add(self, path: Path) -> None:
        self.digests[self.workspace.relative(path)] = digest_bytes(path.read_bytes())


def make_plan(workspace: Workspace, campaign_path: Path, known: Known) -> Plan:
    """The plan of a campaign file, or a DeclarationError with every problem of every file it names."""
    inputs = _Inputs(workspace)
    inputs.add(campaign_path)
    return _plan(workspace, load_campaign(campaign_path, known.engines), known, inputs)


def plan_without_file(workspace: Workspace, campaign: str, known: Known) -> Plan:
    """The plan of a campaign that a command made up; `campaign` is its text."""
    loaded = resolve_campaign(parse_document(campaign), known.engines)
    return _plan(workspace, loaded, known, _Inputs(workspace))


def _plan(workspace: Workspace, loaded: LoadedCampaign, known: Known, inputs: _Inputs) -> Plan:
    campaign = loaded.campaign
    _refuse_unstartable(loaded, known)
    ladder_path = _ladder_path(workspace, loaded)
    document = load_document(ladder_path)
    ladder = validate(document, Ladder)
    inputs.add(ladder_path)
    builder = _GateBuilder(workspace, document, known, inputs, loaded)
    gates = tuple(builder.gate(index, gate, repeat_of) for index, gate, repeat_of in ladder.climbed)
    builder.problems += replay_problems(loaded.document, ladder, document, loaded.arms, known.comparing)
    builder.finish()
    planned = tuple(gate for gate in gates if gate is not None)
    boots = planned_boots(loaded.arms, planned)
    return Plan(
        armgate_version=armgate.__version__,
        campaign=campaign.name,
        says=campaign.says,
        reference=campaign.reference,
        metric=campaign.metric,
        require_verified=campaign.require_verified,
        references=campaign.references,
        deadline_s=campaign.deadline_s,
        inputs=dict(sorted(inputs.digests.items())),
        pins=campaign.pins,
        arms=loaded.arms,
        boots=boots,
        gates=planned,
        contracts=builder.contracts,
        tasks=builder.tasks,
        counts=count(loaded.arms, boots, planned),
    )


def _refuse_unstartable(loaded: LoadedCampaign, known: Known) -> None:
    problems = [
        loaded.document.problem(
            ("arms", arm.name),
            f"Armgate does not start {arm.engine} servers",
            "use `launcher: {kind: attach}`",
        )
        for arm in loaded.arms.values()
        if arm.engine in known.attach_only and arm.launcher.kind != "attach"
    ]
    if problems:
        raise DeclarationError(problems)


def _ladder_path(workspace: Workspace, loaded: LoadedCampaign) -> Path:
    path = workspace.path(loaded.campaign.ladder)
    if path.is_file():
        return path
    there = [f"gates/{name}.yaml" for name in workspace.names("gates", ".yaml")]
    hint = nearest(loaded.campaign.ladder, there)
    raise DeclarationError([loaded.document.problem(("ladder",), f"no such file: {path}", hint)])


def _out_of_reach(gate: Gate) -> Iterator[tuple[str, str]]:
    """(field, message) for numbers of samples that the gate asks for and that are never sent."""
    planned = sum(probe.samples for probe in gate.probes)
    asked = {"threshold.passes": gate.threshold.passes, "min_samples": gate.min_samples}
    for field, wanted in asked.items():
        if wanted is not None and wanted > planned:
            yield field, f"{wanted} of {planned} planned samples can never be; at most {planned}"


class _GateBuilder:
    """Turns ladder entries into planned gates and collects every problem on the way."""

    def __init__(
        self,
        workspace: Workspace,
        document: Document,
        known: Known,
        inputs: _Inputs,
        loaded: LoadedCampaign,
    ) -> None:
        self.workspace, self.document, self.known, self.inputs = workspace, document, known, inputs
        self.arms = loaded.arms
        self.problems: list[Problem] = []
        self.contracts: dict[str, Contract] = {}
        self.tasks: dict[str, LoadedTask] = {}

    def finish(self) -> None:
        if self.problems:
            raise DeclarationError(dict.fromkeys(self.problems))

    def gate(self, index: int, gate: Gate, repeat_of: str | None) -> PlannedGate | None:
        where = ("gates", index)
        before = len(self.problems)
        if gate.check not in self.known.families:
            hint = nearest(gate.check, list(self.known.families))
            self._refuse((*where, "check"), f"no check {gate.check!r}", hint)
            return None
        gate = self._with_recipe(where, gate)
        for field, message in (*recipe_problems(gate), *self.known.gate_problems(gate)):
            self._refuse((*where, *field.split(".")), message)
        if gate.reference is not None and gate.reference not in self.arms:
            hint = nearest(gate.reference, list(self.arms))
            self._refuse((*where, "reference"), f"no arm {gate.reference!r}", hint)
        self._contracts(where, gate)
        task = self._task(where, gate)
        if task is not None and task.prompt is None and not gate.probes:
            message = f"task {gate.task!r} has no prompt: give it one, or the gate its own probes"
            self._refuse((*where, "task"), message)
        if len(self.problems) > before:
            return None
        prompt = self._task_prompt(task) if task is not None and not gate.probes else None
        try:
            full = Gate.model_validate(expanded(gate, prompt))
        except ValidationError as error:
            for one in error.errors(include_url=False):
                field = ".".join(str(part) for part in one["loc"])
                self._refuse(where, f"implies a probe that cannot be: {field or 'probes'}: {one['msg']}")
            return None
        if not full.probes:
            self._refuse(where, f"gate {gate.id!r} would send nothing, so it could judge nothing")
            return None
        for field, message in _out_of_reach(full):
            self._refuse((*where, *field.split(".")), message)
        probes = [self._probe(where, full, number) for number in range(len(full.probes))]
        kept = tuple(probe.planned for probe in probes if probe is not None)
        return PlannedGate(
            gate=full,
            family=gate.family or self.known.families[gate.check],
            compares=gate.check in self.known.comparing,
            probes=kept,
            repeat_of=repeat_of,
        )

    def _with_recipe(self, where: tuple[str | int, ...], gate: Gate) -> Gate:
        """The gate with the recipe in place of a haystack's name."""
        if not isinstance(gate.haystack, str):
            return gate
        try:
            spec, path = named_haystack(self.workspace, gate.haystack)
        except DeclarationError as error:
            self._refuse_all((*where, "haystack"), error)
            return gate
        self.inputs.add(path)
        return gate.model_copy(update={"haystack": spec})

    def _refuse_all(self, where: tuple[str | int, ...], error: DeclarationError) -> None:
        """Problems of another file as they are; those without a file are told at `where` of the ladder."""
        for problem in error.problems:
            if problem.file is not None:
                self.problems.append(problem)
            else:
                message = f"{problem.where}: {problem.message}" if problem.where else problem.message
                self._refuse(where, message, problem.hint)

    def _refuse(self, path: Sequence[str | int], message: str, hint: str | None = None) -> None:
        self.problems.append(self.document.problem(path, message, hint))

    def _contracts(self, where: tuple[str | int, ...], gate: Gate) -> None:
        named = [((*where, "contract"), gate.contract)]
        named += [((*where, "probes", n, "contract"), p.contract) for n, p in enumerate(gate.probes)]
        for path, name in named:
            if name is None or name in self.contracts:
                continue
            try:
                file = self.workspace.named("contracts", name, ".yaml")
            except DeclarationError as error:
                problem = error.problems[0]
                self._refuse(path, problem.message, problem.hint)
                continue
            self._contract(path, name, file)

    def _contract(self, path: Sequence[str | int], name: str, file: Path) -> None:
        try:
            contract = load_contract(file)
        except DeclarationError as error:
            self.problems += error.problems
            return
        for broken in self.known.contract_problems(contract):
            self._refuse(path, f"contract {name!r} does not hold its own examples: {broken}")
        self.contracts[name] = contract
        self.inputs.add(file)

    def _task(self, where: tuple[str | int, ...], gate: Gate) -> LoadedTask | None:
        if gate.task is None:
            return None
        folder = self.workspace.root / "gates" / "tasks" / gate.task
        if not (folder / "task.yaml").is_file():
            there = sorted(path.parent.name for path in folder.parent.glob("*/task.yaml"))
            self._refuse((*where, "task"), f"no task {gate.task!r}", nearest(gate.task, there))
            return None
        try:
            task = load_task(folder, named=True)
        except DeclarationError as error:
            self.problems += error.problems
            return None
        for path in sorted(p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts):
            self.inputs.add(path)
        self.tasks[gate.task] = task
        return task

    def _task_prompt(self, loaded: LoadedTask) -> str | None:
        if loaded.prompt is None:
            return None
        file = self.workspace.root / "gates" / "tasks" / loaded.task.id / str(loaded.task.prompt)
        return render(loaded.prompt, {"entry": loaded.task.entry}, file)

    def _probe(self, where: tuple[str | int, ...], gate: Gate, number: int) -> Rendered | None:
        try:
            made = rendered(self.workspace, gate.probes[number])
        except DeclarationError as error:
            field = ("haystack",) if gate.haystack is not None else ("probes", number)
            self._refuse_all((*where, *field), error)
            return None
        for file in made.files:
            self.inputs.add(file)
        return made
