"""One boot of the real engine with two short gates: what the stand-in cannot prove."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from armgate.campaign.known import known
from armgate.campaign.progress import Progress
from armgate.campaign.rejudge import rejudge
from armgate.campaign.run import execute, start
from armgate.campaign.sandbox import Sandboxes
from armgate.campaign.setting import Setting
from armgate.engines.pins import tree_digest
from armgate.loading.plan import make_plan
from armgate.loading.workspace import Workspace
from armgate.model.evidence import Counters
from armgate.model.outcome import ArmVerdict
from armgate.telemetry.metrics import parse_counters

ROOT = Path(__file__).resolve().parents[2]

EXTRACT = (
    'Extract name and age as JSON with keys "name" and "age" only, no other text: Maria is 31 years old.'
)


def workspace(root: Path, python: Path, model: Path) -> Path:
    """A workspace whose one arm drafts by n-grams, so that its counters have to move."""
    for folder in ("campaigns", "gates"):
        (root / folder).mkdir()
    shutil.copytree(ROOT / "contracts", root / "contracts")
    sentence = "Repeat exactly: The quick brown fox jumps over the lazy dog."
    ladder = {
        "schema": "armgate/ladder/v1",
        "id": "short",
        "gates": [
            {"id": "json", "check": "contract", "contract": "json-person", "required": True, "why": "a form",
             "probes": [{"id": "maria", "max_tokens": 64, "prompt": EXTRACT}]},
            {"id": "accepted", "check": "acceptance", "required": True, "why": "it drafts",
             "probes": [{"id": "fox", "prompt": " ".join([sentence] * 4), "max_tokens": 48,
                         "body": {"ignore_eos": True}}]},
        ],
    }  # fmt: skip
    campaign = {
        "schema": "armgate/campaign/v1",
        "name": "real",
        "reference": "depth-3",
        "pins": {"target": {"dir": str(model), "tree": tree_digest(model)}},
        "defaults": {
            "engine": "vllm",
            "launcher": {
                "kind": "process",
                "python": str(python),
                "preload": ["libtcmalloc_minimal.so.4", "libiomp5.so"],
                "env": {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_NUM_OF_RESERVED_CPU": "0"},
            },
            "target": "target",
            "serve": {"dtype": "float32", "enforce_eager": True, "max_model_len": 2048, "max_num_seqs": 1,
                      "shutdown_timeout": 20},
            "speculative": {"method": "ngram", "depth": 3,
                            "options": {"prompt_lookup_max": 4, "prompt_lookup_min": 2}},
        },
        "arms": {"depth-3": {}},
        "ladder": "gates/short.yaml",
    }  # fmt: skip
    (root / "gates" / "short.yaml").write_text(json.dumps(ladder))
    path = root / "campaigns" / "real.yaml"
    path.write_text(json.dumps(campaign))
    return path


def scraped(folder: Path, name: str) -> Counters:
    return parse_counters((folder / "telemetry" / name).read_text(), 0.0)


def gained(folder: Path, gate: str, series: str) -> float:
    before, after = (scraped(folder, f"{gate}.{when}.prom").series for when in ("before", "after"))
    return sum(v - before[key] for key, v in after.items() if key.startswith(f"vllm:{series}_total"))


@pytest.mark.engine
def test_a_real_arm_is_booted_gated_and_judged_again(
    tmp_path: Path, engine_environment: tuple[Path, Path]
) -> None:
    python, model = engine_environment
    plan = make_plan(Workspace(tmp_path), workspace(tmp_path, python, model), known())
    setting = Setting(plan, start(plan, tmp_path / "runs"), Workspace(tmp_path), Progress(), Sandboxes())
    result = asyncio.run(execute(setting))

    record = result.records["depth-3"]
    assert record.arm_verdict is ArmVerdict.ACCEPTED, record.reasons
    boot = setting.run.boot("depth-3", 0)
    on_file = json.loads(boot.record.read_bytes())
    assert on_file["state"] == "stopped"
    assert on_file["resolved"]["max_model_len"] == 2048
    assert on_file["versions"]["server"]

    counters = record.measurements["accepted"]["00"]["counters"]
    for ours, theirs in (("drafts", "num_drafts"), ("accepted_tokens", "num_accepted_tokens")):
        assert counters["acceptance"][ours] == gained(boot.root, "accepted", f"spec_decode_{theirs}") > 0
    assert counters["generation_tokens"] == 48
    assert record.measurements["accepted"]["00"]["interference"]["requests"] == 0
    assert rejudge(setting.run).differences == ()
