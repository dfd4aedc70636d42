"""The sandbox of a run: opened when the first code gate needs it, on the strongest tier that holds."""

from __future__ import annotations

import threading

from armgate.errors import SandboxUnavailable
from armgate.execution.executor import Executor
from armgate.execution.tiers import open_executor
from armgate.judging.fences import extract_fenced_block
from armgate.model.evidence import Sample
from armgate.model.execution import ExecutionRecord, recorded
from armgate.model.gates import Gate
from armgate.model.task import LoadedTask


class Sandboxes:
    """One executor for each tier that a ladder demands; closed with the run."""

    def __init__(self, tier: str = "auto") -> None:
        self.tier = tier
        self._open: dict[str | None, Executor] = {}
        self._opening = threading.Lock()

    def run(self, gate: Gate, task: LoadedTask, sample: Sample) -> ExecutionRecord:
        """The record of one answer. Without a sandbox it says so: an answer is never run without one."""
        text, source = text_to_run(gate, sample)
        try:
            executor = self._executor(gate.required_tier)
        except SandboxUnavailable as error:
            return ExecutionRecord(
                task=task.task.id,
                task_digest=task.digest,
                text=None if text is None else recorded(text.encode("utf-8", "surrogatepass")),
                text_source=source,
                planned=task.planned,
                fault=str(error),
            )
        return executor.run(task, text, source)

    def _executor(self, required: str | None) -> Executor:
        with self._opening:
            if required not in self._open:
                self._open[required] = open_executor(self.tier, required)
            return self._open[required]

    def close(self) -> None:
        for executor in self._open.values():
            executor.close()
        self._open.clear()


def text_to_run(gate: Gate, sample: Sample) -> tuple[str | None, str]:
    """What a code gate runs and where it is from: the content verbatim, or what its extractor takes."""
    content = sample.response.content
    if gate.extract != "fenced_block":
        return content, "content"
    block = extract_fenced_block(content) if content is not None else None
    return (block[0] if block is not None else None), "fenced_block"
