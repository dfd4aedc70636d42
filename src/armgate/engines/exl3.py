"""EXL3 servers of TabbyAPI's kind, TensorFold's among them: what they tell of the model that they loaded.

Source: the model endpoints of theroyallab/tabbyAPI (`GET /v1/model`: id, parameters, the draft below them).
"""

from __future__ import annotations

from collections.abc import Mapping

from armgate.engines.openai_compatible import OpenAiCompatible
from armgate.model.base import Json

MODEL = "/v1/model"
_TOLD = {
    "max_seq_len": "max_model_len",
    "cache_size": "kv_cache_tokens",
    "cache_mode": "kv_cache_dtype",
    "chunk_size": "chunk_size",
    "prompt_template": "chat_template",
}


class Exl3(OpenAiCompatible):
    """Attached only: these servers load their model from a configuration file of their own."""

    name = "exl3"
    tells: tuple[str, ...] = (MODEL,)

    def resolved(self, answers: Mapping[str, Json]) -> dict[str, Json]:
        told = answers.get(MODEL)
        if not isinstance(told, dict) or not isinstance(told.get("parameters"), dict):
            return {}
        parameters = told["parameters"]
        found: dict[str, Json] = {name: parameters.get(key) for key, name in _TOLD.items()}
        draft = parameters.get("draft")
        found["draft"] = draft.get("id") if isinstance(draft, dict) else None
        return {name: value for name, value in found.items() if value is not None}
