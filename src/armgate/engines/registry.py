"""Every engine by the name that campaigns use."""

from __future__ import annotations

from armgate.engines.exl3 import Exl3
from armgate.engines.llama_cpp import LlamaCpp
from armgate.engines.ollama import Ollama
from armgate.engines.openai_compatible import OpenAiCompatible
from armgate.engines.protocol import Engine
from armgate.engines.sglang import SgLang
from armgate.engines.vllm import Vllm

ENGINES: dict[str, Engine] = {
    engine.name: engine for engine in (Vllm(), SgLang(), LlamaCpp(), Exl3(), Ollama(), OpenAiCompatible())
}
