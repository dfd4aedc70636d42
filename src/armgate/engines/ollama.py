"""Ollama: attached only; it loads a model on the first request and unloads it after a while of silence.

Source: docs/api.md of ollama/ollama (`/api/version`, `/api/ps`).
"""

from __future__ import annotations

from collections.abc import Mapping

from armgate.engines.openai_compatible import OpenAiCompatible
from armgate.engines.protocol import MODELS
from armgate.model.base import Json

LOADED = "/api/ps"


class Ollama(OpenAiCompatible):
    """`/api/ps` lists loaded models alone, so what it tells before the first token may be nothing."""

    name = "ollama"
    version: str | None = "/api/version"
    tells: tuple[str, ...] = (LOADED,)

    def resolved(self, answers: Mapping[str, Json]) -> dict[str, Json]:
        told, offered = answers.get(LOADED), answers.get(MODELS)
        models = told.get("models") if isinstance(told, dict) else None
        wanted = offered.get("id") if isinstance(offered, Mapping) else None
        for model in models or []:
            if isinstance(model, dict) and wanted in (model.get("name"), model.get("model")):
                found = {"max_model_len": model.get("context_length"), "digest": model.get("digest")}
                return {name: value for name, value in found.items() if value is not None}
        return {}
