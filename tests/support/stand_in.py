"""The stand-in engine as Armgate sees it, and a small workspace to run it in."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split

from armgate.engines.failures import Failure, find_failure
from armgate.engines.protocol import Address, ArmFiles
from armgate.engines.registry import ENGINES
from armgate.model.arms import Arm
from armgate.model.base import Json
from support import stand_in_engine

PROGRAM = Path(stand_in_engine.__file__)

CONTRACT = """\
schema: armgate/contract/v1
id: says-yes
says: The word yes and nothing else.
clauses:
  - exact: {text: "yes"}
examples:
  pass: ["yes"]
  fail: [{text: "yes.", violates: [exact]}]
"""

LADDER: list[dict[str, Any]] = [
    {"id": "responds", "check": "responds", "required": True, "why": "it answers", "on_failure": "stop",
     "probes": [{"id": "hello", "prompt": "hello", "warm_up": 1}]},
    {"id": "yes", "check": "contract", "contract": "says-yes", "required": True, "why": "a form",
     "requires": ["responds"], "probes": [{"id": "yes", "prompt": "say yes"}]},
    {"id": "after-yes", "check": "responds", "required": False, "why": "needs yes", "requires": ["yes"],
     "probes": [{"id": "more", "prompt": "more"}]},
    {"id": "lossless", "check": "losslessness", "required": True, "why": "the same words",
     "requires": ["responds"], "body": {"return_token_ids": True},
     "probes": [{"id": "story", "prompt": "tell a story"}, {"id": "list", "prompt": "make a list"}]},
    {"id": "speed", "check": "speed", "required": False, "why": "figures", "requires": ["responds"],
     "probes": [{"id": "prose", "prompt": "long text", "samples": 2}]},
]  # fmt: skip


class StandInEngine:
    """Knows how the stand-in is started; its serve settings are the program's own options."""

    name = "stand-in"
    managed = frozenset({"port"})
    attach_only = False
    packages: tuple[str, ...] = ("aiohttp",)
    health: str | None = "/health"
    version: str | None = "/version"
    tells: tuple[str, ...] = ()
    reset: str | None = "/reset_prefix_cache"

    def argv(self, arm: Arm, files: ArmFiles, model_id: str, at: Address) -> tuple[str, ...]:
        words = [str(PROGRAM), "--port", str(at.port), "--model-id", model_id, "--depth", str(arm.depth)]
        for key, value in arm.serve.items():
            flag = "--" + key.replace("_", "-")
            words += [flag] if value is True else [flag, str(value)]
        return tuple(words)

    def environment(self, arm: Arm, scratch: Path) -> dict[str, str]:
        return {}

    def refused_parameters(self, arm: Arm) -> frozenset[str]:
        return frozenset()

    def failure(self, log: str) -> Failure | None:
        return find_failure(log)

    def log_facts(self, log: str) -> dict[str, Json]:
        return {}

    def own_depth(self, arm: Arm) -> dict[str, int]:
        return {"depth": arm.depth} if arm.speculative is not None else {}

    def resolved(self, answers: Mapping[str, Json]) -> dict[str, Json]:
        return {}

    def version_of(self, body: Json) -> str | None:
        return str(body["version"]) if body is not None else None


def register() -> None:
    ENGINES["stand-in"] = StandInEngine()


@dataclasses.dataclass
class SmallWorkspace:
    """A workspace in a temporary folder, with a model folder to pin and a campaign of stand-in arms."""

    root: Path
    ladder: list[dict[str, Any]]
    tree: str | None = None

    @classmethod
    def make(cls, root: Path) -> SmallWorkspace:
        for folder in ("campaigns", "contracts", "gates", "runs", "model"):
            (root / folder).mkdir()
        (root / "contracts" / "says-yes.yaml").write_text(CONTRACT)
        (root / "model" / "weights").write_bytes(b"weights")
        return cls(root, [dict(gate) for gate in LADDER])

    def tokenizer(self) -> None:
        """Tokenizer files of the model: they count as the stand-in does, and its template is theirs."""
        tokenizer = Tokenizer(WordLevel({"?": 0}, unk_token="?"))
        tokenizer.pre_tokenizer = Split(Regex(r"\s*\S+|\s+$"), "isolated")
        tokenizer.save(str(self.root / "model" / "tokenizer.json"))
        template = "{% for m in messages %}a b c d {{ m.content }} e{% endfor %}"
        config = {"chat_template": template, "bos_token": {"content": "<s>"}}
        (self.root / "model" / "tokenizer_config.json").write_text(json.dumps(config))

    def replies(self, name: str, *replies: dict[str, Any]) -> str:
        """A replies file for an arm; without a match the stand-in answers with what it was asked."""
        usual = [{"match": "say yes", "text": "yes"}, {"match": "story", "text": "once upon a time"}]
        path = self.root / f"replies-{name}.json"
        path.write_text(json.dumps([*replies, *usual]))
        return str(path)

    def campaign(self, whole: dict[str, Any] | None = None, **arms: dict[str, Any]) -> Path:
        """Writes ladder and campaign (JSON is YAML). `arms`: overrides by name; `base` is the reference;
        `whole`: keys of the campaign itself."""
        from armgate.engines.digests import tree_digest

        tree = self.tree or tree_digest(self.root / "model")
        body: dict[str, Any] = {
            "schema": "armgate/campaign/v1",
            "name": "small",
            "reference": "base",
            "pins": {},
            "defaults": {
                "engine": "stand-in",
                "launcher": {"kind": "process", "python": sys.executable},
                "target": "target",
                "serve": {"replies": self.replies("usual")},
                "deadlines": {"ready_s": 30.0, "silence_s": 5.0, "stop_s": 2.0},
            },
            "arms": {"base": {}, **arms},
            "ladder": "gates/small.yaml",
            **(whole or {}),
        }
        body["pins"] = {"target": {"dir": "model", "tree": tree}, **body["pins"]}
        ladder = {"schema": "armgate/ladder/v1", "id": "small", "gates": self.ladder}
        (self.root / "gates" / "small.yaml").write_text(json.dumps(ladder))
        path = self.root / "campaigns" / "small.yaml"
        path.write_text(json.dumps(body))
        return path
