"""Request bodies: every sampling parameter that the engine accepts is sent, never left to a default."""

from __future__ import annotations

from collections.abc import Sequence

from armgate.model.arms import Arm, Sampling
from armgate.model.base import Json, merged
from armgate.model.gates import Gate, Probe


def sampling_of(arm: Arm, probe: Probe) -> Sampling:
    """The arm's sampling with the probe's overrides."""
    return Sampling.model_validate(
        merged(arm.sampling.model_dump(), probe.sampling, frozenset()), strict=False
    )


def request_body(
    arm: Arm,
    gate: Gate,
    probe: Probe,
    messages: Sequence[dict[str, Json]],
    model_id: str,
    max_tokens: int,
    refused: frozenset[str],
) -> dict[str, Json]:
    """The JSON body of one chat completion. Keys in `refused` are not sent: the engine does not take them."""
    sampling = sampling_of(arm, probe).model_dump()
    body: dict[str, Json] = {"model": model_id, "messages": list(messages), "max_tokens": max_tokens}
    body |= {key: value for key, value in sampling.items() if value is not None and key not in refused}
    body["stream"] = probe.stream
    if probe.stream:
        body["stream_options"] = {"include_usage": True}
    if probe.tools:
        body["tools"] = list(probe.tools)
    if arm.template_switches:
        body["chat_template_kwargs"] = arm.template_switches
    return {**body, **gate.body, **probe.body}
