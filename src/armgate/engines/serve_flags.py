"""Serve settings as flags of a command line, the way argparse-based servers take them."""

from __future__ import annotations

import json

from armgate.engines.protocol import Located
from armgate.model.base import Json


def flag(key: str, value: Json, *, paired: bool) -> list[str]:
    """`max_model_len: 8192` -> `--max-model-len 8192`.

    With `paired` booleans a false one is `--no-...`; without, a switch that is off is left out.
    """
    name = "--" + key.replace("_", "-")
    if value is True:
        return [name]
    if value is False:
        return ["--no-" + key.replace("_", "-")] if paired else []
    if isinstance(value, dict | list):
        return [name, json.dumps(value)]
    return [name, str(value)]


def revision(name: str, located: Located) -> list[str]:
    return [name, located.revision] if located.revision is not None else []
