"""A campaign for a server that is simply there: one attached arm, and a ladder."""

from __future__ import annotations

import json
from pathlib import Path

from armgate.engines.registry import ENGINES
from armgate.errors import UsageError
from armgate.loading.strict_yaml import nearest
from armgate.model.base import Json


def attached_campaign(
    url: str, ladder: str, engine: str, model: str | None, api_key_file: Path | None, api_key_env: str | None
) -> str:
    """The campaign's text (JSON is YAML); of the model only the offered name is known."""
    if engine not in ENGINES:
        hint = nearest(engine, list(ENGINES))
        raise UsageError(
            f"no engine {engine!r}; engines: {', '.join(ENGINES)}" + (f" ({hint})" if hint else "")
        )
    launcher: dict[str, Json] = {"kind": "attach", "url": url}
    launcher |= {"model": model} if model else {}
    launcher |= {"api_key_file": str(api_key_file.resolve())} if api_key_file else {}
    launcher |= {"api_key_env": api_key_env} if api_key_env else {}
    return json.dumps(
        {
            "schema": "armgate/campaign/v1",
            "name": "attached",
            "says": "One server as it was found.",
            "reference": "attached",
            "pins": {"target": {"served": model}},
            "defaults": {"engine": engine, "launcher": launcher, "target": "target"},
            "arms": {"attached": {}},
            "ladder": ladder,
        }
    )
