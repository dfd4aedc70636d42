"""Every engine by the name that campaigns use."""

from __future__ import annotations

from armgate.engines.protocol import Engine
from armgate.engines.vllm import Vllm

ENGINES: dict[str, Engine] = {"vllm": Vllm()}
