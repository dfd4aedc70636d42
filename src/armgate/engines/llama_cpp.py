"""llama.cpp behind an OpenAI-compatible server: its own `llama-server`, or llama-cpp-python's.

Sources: tools/server/README.md of ggml-org/llama.cpp; answers recorded from llama-cpp-python 0.3.36, which
has neither `/health` nor `/props` nor `/metrics` and sends no usage in streams.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from armgate.engines.failures import Failure, find_failure
from armgate.engines.openai_compatible import OpenAiCompatible
from armgate.model.base import Json

PROPS = "/props"
_CONTEXT = re.compile(r"n_ctx\s+= (\d+)")


class LlamaCpp(OpenAiCompatible):
    """Readiness is `/v1/models`: the one path that both servers have, and closed while a model loads."""

    name = "llama-cpp"
    version: str | None = PROPS
    tells: tuple[str, ...] = (PROPS,)

    def failure(self, log: str) -> Failure | None:
        return find_failure(log)

    def log_facts(self, log: str) -> dict[str, Json]:
        found = _CONTEXT.findall(log)
        return {"n_ctx": int(found[-1])} if found else {}

    def resolved(self, answers: Mapping[str, Json]) -> dict[str, Json]:
        told = answers.get(PROPS)
        if not isinstance(told, dict):
            return {}
        settings = told.get("default_generation_settings") or {}
        found = {
            "max_model_len": settings.get("n_ctx"),
            "slots": told.get("total_slots"),
            "root": told.get("model_path"),
        }
        return {name: value for name, value in found.items() if value is not None}

    def version_of(self, body: Json) -> str | None:
        build = body.get("build_info") if isinstance(body, dict) else None
        return build if isinstance(build, str) else None
