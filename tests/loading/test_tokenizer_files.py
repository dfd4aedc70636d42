"""Pinned tokenizer files: their chat template applied as engines apply it, and counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing

from armgate.errors import UsageError
from armgate.loading.tokenizer_files import TokenizerFiles

REQUEST: dict[str, Any] = {"messages": [{"role": "user", "content": "three more words"}]}
TEMPLATE = (
    "{{ bos_token }}\n"
    "{% for message in messages %}\n"
    "    {% if message.role == 'tool' %}{{ raise_exception('no tools here') }}{% endif %}\n"
    "{{ message.role }} {{ message.content }}\n"
    "{% endfor %}\n"
    "{% if tools %}{{ tools | tojson }} {% endif %}{% if enable_thinking is false %}quiet {% endif %}"
    "{% if add_generation_prompt %}answer{% endif %}"
)


def folder(root: Path, config: dict[str, Any]) -> Path:
    tokenizer = Tokenizer(WordLevel({"?": 0, "<s>": 1}, unk_token="?"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    # Adds a token of its own, as many models do; a chat template already brings it.
    tokenizer.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    tokenizer.save(str(root / "tokenizer.json"))
    (root / "tokenizer_config.json").write_text(json.dumps(config))
    return root


def test_the_template_brings_the_special_tokens_and_they_count_once(tmp_path: Path) -> None:
    config = {"chat_template": TEMPLATE, "bos_token": {"content": "<s>", "lstrip": False}}
    files = TokenizerFiles.load(folder(tmp_path, config))
    assert files.render(REQUEST) == "<s>\nuser three more words\nanswer"
    assert files.count(REQUEST) == 6


def test_switches_and_tools_reach_the_template(tmp_path: Path) -> None:
    named = [{"name": "other", "template": "x"}, {"name": "default", "template": TEMPLATE}]
    files = TokenizerFiles.load(folder(tmp_path, {"chat_template": named, "bos_token": "<s>"}))
    switched = {**REQUEST, "chat_template_kwargs": {"enable_thinking": False}, "tools": [{"a": "é<"}]}
    assert files.render(switched).endswith('[{"a": "é<"}] quiet answer')


def test_a_template_file_stands_before_the_config_and_a_pinned_one_before_both(tmp_path: Path) -> None:
    made = folder(tmp_path, {"chat_template": "from config"})
    (made / "chat_template.jinja").write_text("from file")
    assert TokenizerFiles.load(made).render(REQUEST) == "from file"
    (tmp_path / "pinned.jinja").write_text("pinned")
    assert TokenizerFiles.load(made, tmp_path / "pinned.jinja").render(REQUEST) == "pinned"


def test_a_template_that_refuses_says_why(tmp_path: Path) -> None:
    files = TokenizerFiles.load(folder(tmp_path, {"chat_template": TEMPLATE}))
    with pytest.raises(UsageError, match="refuses the messages: no tools here"):
        files.count({"messages": [{"role": "tool", "content": "x"}]})


def test_a_template_is_confined_to_the_sandbox(tmp_path: Path) -> None:
    escape = "{{ messages.__class__.__mro__ }}"
    files = TokenizerFiles.load(folder(tmp_path, {"chat_template": escape}))
    with pytest.raises(UsageError, match="refuses the messages"):
        files.render(REQUEST)


def test_missing_and_damaged_files_are_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no tokenizer\.json"):
        TokenizerFiles.load(tmp_path)
    made = folder(tmp_path, {})
    with pytest.raises(UsageError, match="has no chat template"):
        TokenizerFiles.load(made)
    (made / "chat_template.jinja").write_text("{% if %}")
    with pytest.raises(UsageError, match="TemplateSyntaxError"):
        TokenizerFiles.load(made)
    (made / "chat_template.jinja").write_text("x")
    (made / "tokenizer.json").write_text("{}")
    with pytest.raises(UsageError):
        TokenizerFiles.load(made)


@pytest.mark.parametrize(("config", "says"), [("{oops", "is no JSON"), ("[]", "no JSON object but a list")])
def test_a_broken_config_is_named(tmp_path: Path, config: str, says: str) -> None:
    (tmp_path / "tokenizer_config.json").write_text(config)
    with pytest.raises(UsageError, match=says):
        TokenizerFiles.load(tmp_path)
