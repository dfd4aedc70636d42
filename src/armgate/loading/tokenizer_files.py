"""The pinned tokenizer files of a model: its chat template applied, and the tokens that come of it.

The template runs in Jinja2's sandbox with the settings and names that Hugging Face documents for chat
templates: blocks trimmed, loop controls, `raise_exception`, `tojson` without escaping.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import NoReturn

from jinja2 import Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer

from armgate.errors import UsageError
from armgate.model.base import Json, digest_bytes

VOCABULARY = "tokenizer.json"
SPECIAL = ("bos_token", "eos_token", "pad_token", "unk_token")


@dataclasses.dataclass(frozen=True)
class TokenizerFiles:
    """A loaded tokenizer with its template. `digest` is that of `tokenizer.json`."""

    tokenizer: Tokenizer
    template: Template
    special: dict[str, Json]
    digest: str

    @classmethod
    def load(cls, folder: Path, template: Path | None = None) -> TokenizerFiles:
        """Of a model's folder; `template` stands in for the folder's own. UsageError says what it lacks."""
        vocabulary = _read(folder / VOCABULARY)
        config = _config(folder / "tokenizer_config.json")
        text = _read(template or folder / "chat_template.jinja") or _in_config(config).encode()
        if vocabulary is None or not text:
            lacking = VOCABULARY if vocabulary is None else "chat template"
            raise UsageError(f"{folder} has no {lacking}")
        try:
            tokenizer = Tokenizer.from_buffer(vocabulary)
            compiled = _environment().from_string(text.decode("utf-8"))
        except Exception as error:  # the tokenizers library raises bare exceptions
            raise UsageError(f"{folder}: {type(error).__name__}: {error}") from None
        special = {name: _content(config.get(name)) for name in SPECIAL if config.get(name)}
        return cls(tokenizer, compiled, special, digest_bytes(vocabulary))

    def render(self, request: Mapping[str, Json]) -> str:
        """The prompt of a chat request: its `messages`, `tools` and `chat_template_kwargs`."""
        names = {**self.special, **(request.get("chat_template_kwargs") or {})}
        try:
            return self.template.render(
                messages=request["messages"],
                tools=request.get("tools"),
                documents=None,
                add_generation_prompt=True,
                **names,
            )
        except (TemplateError, TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
            raise UsageError(f"the chat template refuses the messages: {error}") from None

    def count(self, request: Mapping[str, Json]) -> int:
        """Tokens of the rendered prompt; the template brings its own special tokens."""
        encoded = self.tokenizer.encode_batch_fast([self.render(request)], add_special_tokens=False)
        return len(encoded[0])


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _config(path: Path) -> dict[str, Json]:
    try:
        config = json.loads(_read(path) or b"{}")
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no JSON: {error}") from None
    if not isinstance(config, dict):
        raise UsageError(f"{path} holds no JSON object but a {type(config).__name__}")
    return config


def _in_config(config: Mapping[str, Json]) -> str:
    """A template inside `tokenizer_config.json`: a text, or a list of named ones."""
    found = config.get("chat_template")
    if isinstance(found, list):
        found = next(
            (one.get("template") for one in found if isinstance(one, dict) and one.get("name") == "default"),
            None,
        )
    return found if isinstance(found, str) else ""


def _content(token: Json) -> Json:
    return token.get("content") if isinstance(token, dict) else token


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, autoescape=False, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise
    environment.globals["strftime_now"] = lambda form: datetime.now().astimezone().strftime(form)
    return environment


def _to_json(value: Json, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _raise(message: str) -> NoReturn:
    raise TemplateError(message)
