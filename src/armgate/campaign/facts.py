"""Reads a run's folder into the facts that its report is made of. Verdicts are taken as recorded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from armgate.campaign.comparison import comparison
from armgate.campaign.derived import (
    boots_begun,
    exit_code,
    memory_lines,
    quality_records,
    read_plan,
    recorded_verdicts,
    was_interrupted,
)
from armgate.campaign.evidence import boot_record, recorded
from armgate.campaign.publication import notices
from armgate.client.recorder import recording_at
from armgate.model.outcome import Verdict
from armgate.model.plan import PlanFile
from armgate.model.reading import read_response
from armgate.model.response import Channel
from armgate.reporting.facts import BootFacts, Reply, RunFacts
from armgate.reporting.run_folder import BootFolder, RunFolder
from armgate.telemetry.process_memory import load_trace


def run_facts(run: RunFolder) -> RunFacts:
    """Everything of a run, from its plan, boots, recorded verdicts and exchanges."""
    plan_file = read_plan(run)
    plan = plan_file.plan
    begun = boots_begun(run, plan)
    verdicts = {(b.arm, b.boot): recorded_verdicts(run.boot(b.arm, b.boot)) for b in begun}
    records = quality_records(run, plan, plan_file.digest, verdicts)
    return RunFacts(
        name=_name(plan_file),
        plan_file=plan_file,
        records=records,
        comparison=comparison(plan, records),
        boots={key: _boot_facts(run.boot(*key), of_boot) for key, of_boot in verdicts.items()},
        exit_code=exit_code(records, was_interrupted(run, begun)),
        notices=notices(run),
    )


def _name(plan_file: PlanFile) -> str:
    """As the run's folder was named when it was made, wherever the files lie now."""
    stamp = re.sub(r"[-:]|[+]00:00", "", plan_file.created_utc)
    return f"{plan_file.plan.campaign}/{stamp}Z-{plan_file.digest.removeprefix('sha256:')[:8]}"


def _boot_facts(folder: BootFolder, verdicts: Mapping[str, Verdict]) -> BootFacts:
    return BootFacts(
        record=boot_record(folder),
        verdicts=verdicts,
        memory=tuple(load_trace(memory_lines(folder))),
        replies=dict(_replies(folder, verdicts)),
    )


def _replies(folder: BootFolder, verdicts: Mapping[str, Verdict]) -> Iterator[tuple[str, Reply]]:
    """The exchanges that verdicts name as their evidence; those that are not in this copy are left out."""
    for verdict in verdicts.values():
        for sample in verdict.samples:
            for path in sample.evidence:
                reply = _reply(folder, path) if path.startswith("exchanges/") else None
                if reply is not None:
                    yield path, reply


def _reply(folder: BootFolder, path: str) -> Reply | None:
    file = recording_at(folder.root / path)
    if file is None:
        return None
    exchange = recorded(file)
    response = read_response(exchange)
    texts = {channel.value: response.channel(channel) for channel in Channel}
    usage = response.usage
    return Reply(
        path=path,
        status=exchange.status,
        fate=exchange.fate.value,
        finish_reason=response.finish_reason,
        channels={name: text for name, text in texts.items() if text is not None},
        prompt_tokens=usage.prompt_tokens if usage else None,
        completion_tokens=usage.completion_tokens if usage and usage.trusted else None,
        cached_tokens=usage.cached_tokens if usage else None,
        ttft_s=response.timings.ttft_s,
        wall_s=response.timings.wall_s,
        masked=len(exchange.masks),
    )
