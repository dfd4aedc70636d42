"""Every engine by the name that campaigns use."""

from __future__ import annotations

from armgate.engines.openai_compatible import OpenAiCompatible
from armgate.engines.protocol import Engine
from armgate.engines.vllm import Vllm

ENGINES: dict[str, Engine] = {engine.name: engine for engine in (Vllm(), OpenAiCompatible())}
