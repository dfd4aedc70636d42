"""Commands as a user types them: exit codes, JSON alone on stdout, errors that say where."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def armgate(*words: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "armgate", *words], capture_output=True, text=True, cwd=cwd, check=False
    )


def copy(tmp_path: Path, old: str, new: str) -> Path:
    """A workspace whose quickstart campaign has one thing changed."""
    for folder in ("contracts", "gates", "templates"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    (tmp_path / "campaigns").mkdir()
    text = (ROOT / "campaigns" / "quickstart.yaml").read_text()
    assert old in text
    path = tmp_path / "campaigns" / "changed.yaml"
    path.write_text(text.replace(old, new, 1))
    return path


def test_the_quickstart_is_valid() -> None:
    done = armgate("validate", "campaigns/quickstart.yaml", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["valid"] is True
    assert told["counts"]["boots"] == 6
    assert told["counts"]["verdicts"] == told["counts"]["gates"] * told["counts"]["boots"]


@pytest.mark.parametrize("command", ["validate", "plan", "run"])
@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("  target: target", "  traget: target", "did you mean 'target'?"),
        ("reference: baseline\n", "reference: baselin\n", "not one of the arms"),
        ("  depth-3:\n", "  baseline: {}\n  depth-3:\n", "duplicate key"),
        ("gates/quickstart.yaml", "gates/quickstrat.yaml", "did you mean 'gates/quickstart.yaml'?"),
        ("engine: vllm", "engine: vlm", "did you mean 'vllm'?"),
        ("method: ngram, depth: 3", "method: ngram, depth: 3, draft: drft", "no pin 'drft'"),
        (
            "pins:\n",
            'pins:\n  image: {image: "ghcr.io/some/vllm:latest", digest: "sha256:0"}\n',
            "a tag can move",
        ),
        ("    dtype: float32", "    port: 8000\n    dtype: float32", "set by Armgate"),
        ("    reference: bf16\n", "    reference: bf61\n", "did you mean 'bf16'?"),
    ],
)
def test_a_wrong_campaign_is_refused_before_anything_starts(
    tmp_path: Path, command: str, old: str, new: str, says: str
) -> None:
    path = copy(tmp_path, old, new)
    out = ["--out", str(tmp_path / "runs")] if command == "run" else []
    done = armgate(command, str(path), "--workspace", str(tmp_path), *out)
    assert done.returncode == 2
    assert says in done.stderr
    assert "changed.yaml:" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()


def test_an_unknown_gate_kind_is_told_with_its_line(tmp_path: Path) -> None:
    path = copy(tmp_path, "gates/quickstart.yaml", "gates-changed.yaml")
    ladder = (ROOT / "gates" / "quickstart.yaml").read_text()
    (tmp_path / "gates-changed.yaml").write_text(ladder.replace("check: losslessness", "check: losslesness"))
    done = armgate("validate", str(path), "--workspace", str(tmp_path), "--json")
    assert done.returncode == 2
    problem = json.loads(done.stdout)["problems"][0]
    assert (problem["hint"], problem["line"] > 1) == ("did you mean 'losslessness'?", True)


def test_plan_shows_the_exact_commands() -> None:
    done = armgate("plan", "campaigns/quickstart.yaml", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    deep = told["commands"]["depth-7"]
    assert '"num_speculative_tokens": 7' in deep[deep.index("--speculative-config") + 1]
    assert deep[deep.index("--port") + 1] == "PORT"
    assert told["digest"].startswith("sha256:")


def test_wrong_usage_is_exit_code_2() -> None:
    assert armgate("run").returncode == 2
    assert armgate("no-such-command").returncode == 2
    assert armgate("schema", "no-such-schema").returncode == 2


def test_a_folder_that_is_no_run_is_told_as_such(tmp_path: Path) -> None:
    done = armgate("judge", str(tmp_path))
    assert done.returncode == 4
    assert "no plan of a run" in done.stderr


def test_a_fault_of_our_own_is_no_verdict() -> None:
    """Exit code 1 means that an arm was rejected; a bug must not say so."""
    script = (
        "import armgate.cli.app as app, sys; sys.argv = ['armgate', 'boom'];"
        "app.app.command('boom')(lambda: 1 / 0); app.main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert "ZeroDivisionError" in done.stderr
