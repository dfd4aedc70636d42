"""The whole corpus of hostile and tricky answers in every tier, as root and as an ordinary user."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, NoReturn

import psutil
import pytest

from armgate.errors import SandboxUnavailable
from armgate.execution.container import LABEL, connect
from armgate.execution.identity import FIRST_PRIVATE
from armgate.execution.interpreters import find_interpreter, readable_by_all
from armgate.execution.tiers import try_tier
from support.sandbox_corpus import CorpusFile, read_corpus

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests" / "data" / "sandbox-corpus"
SUPPORT = ROOT / "tests" / "support" / "sandbox_corpus.py"
ORDINARY_USER = 54321

pytestmark = pytest.mark.slow

FILES = read_corpus(CORPUS)
RUNS = [
    *((tier, who) for tier in ("process", "namespaces") for who in ("root", "user")),
    ("container", "root"),
]


class CorpusRun(NamedTuple):
    verdicts: dict[str, dict[str, object]]
    left_behind: list[str]
    host_changed: list[str]


@pytest.fixture(scope="module", params=RUNS, ids="-".join)
def corpus_run(request: pytest.FixtureRequest) -> CorpusRun:
    """All verdicts of one tier as one user, from a process of its own, and what it left on the machine."""
    tier, who = request.param
    unavailable = request.getfixturevalue("unavailable")
    if tier == "container":
        request.getfixturevalue("docker_engine")
    else:
        _demand(tier, request.getfixturevalue("harness"), unavailable)
    digests = _host_files()
    runner = subprocess.Popen(
        [*_python(who, unavailable), SUPPORT, tier, CORPUS],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
        env={
            "PATH": os.environ["PATH"],
            "HOME": "/nonexistent",
            "DOCKER_HOST": os.environ.get("DOCKER_HOST", ""),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *filter(None, sys.path)]),
        },
        **_identity(who),
    )
    verdicts, errors = runner.communicate(timeout=900)
    assert runner.returncode == 0, errors
    after = _host_files()
    changed = [path for path, digest in digests.items() if after.get(path) != digest]
    return CorpusRun(json.loads(verdicts), _left_behind(runner.pid), changed)


def _left_behind(runner: int) -> list[str]:
    """What is still there after a moment: a killed process may take some milliseconds to be gone."""
    for _ in range(50):
        left = _traces(runner)
        if not left:
            break
        time.sleep(0.1)
    return left


def _demand(tier: str, harness: object, unavailable: Callable[[str, str], NoReturn]) -> None:
    attempt = try_tier(tier, harness)  # type: ignore[arg-type]
    if attempt.backend is not None:
        attempt.backend.close()
    if attempt.refusal is not None:
        unavailable("sandbox", f"{tier}: {attempt.refusal}")


def _identity(who: str) -> dict[str, object]:
    if who == "user" and os.geteuid() == 0:
        return {"user": ORDINARY_USER, "group": ORDINARY_USER, "extra_groups": []}
    return {}


def _python(who: str, unavailable: Callable[[str, str], NoReturn]) -> list[str]:
    """This interpreter; for another user, one of the same version that everybody may read."""
    if who == "root" and os.geteuid() != 0:
        pytest.skip("not run as root")
    if who == "root" or os.geteuid() != 0:
        return [sys.executable]
    try:
        found = find_interpreter(readable_by_all)
    except SandboxUnavailable as error:
        unavailable("sandbox", f"as an ordinary user: {error}")
    if not found.version.startswith(f"{sys.version_info[0]}.{sys.version_info[1]}."):
        unavailable("sandbox", f"as an ordinary user: Python {found.version} is not this one's version")
    return [str(found.path)]


def _traces(runner: int) -> list[str]:
    """What sandboxes of that process could leave: orphans, temporary files, control groups, containers."""
    found = [f"process {process.pid}: {process.info['cmdline']}" for process in _orphans()]
    mark = f"armgate-{runner}-*"
    for folder in (Path(tempfile.gettempdir()), Path("/dev/shm")):
        found += [str(path) for path in folder.glob(mark)]
    found += [str(path) for path in Path("/sys/fs/cgroup").glob(f"**/{mark}")]
    return found + _containers(runner)


def _orphans() -> list[psutil.Process]:
    """Sandbox processes whose starter is gone; those of another run on this machine have theirs."""
    found = []
    for process in psutil.process_iter(["pid", "ppid", "cmdline", "uids"]):
        line = " ".join(process.info["cmdline"] or [])
        private = process.info["uids"] and process.info["uids"].real >= FIRST_PRIVATE
        if process.info["ppid"] == 1 and (private or 'sys.modules["zygote"]' in line):
            found.append(process)
    return found


def _containers(runner: int) -> list[str]:
    try:
        with contextlib.closing(connect()) as client:
            listed = client.containers.list(all=True, filters={"label": f"{LABEL}={runner}"})
            return [f"container {one.id}" for one in listed]
    except SandboxUnavailable:
        return []


def _host_files() -> dict[str, bytes]:
    """Files of the host that answers of the corpus try to change."""
    found = find_interpreter(lambda _: True)
    watched = [folder / "json" / "__init__.py" for folder in found.library]
    watched += [Path("/etc/passwd"), Path("/etc/hosts"), *CORPUS.glob("*.py")]
    return {str(path): path.read_bytes() for path in watched if path.exists()}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_each_answer_gets_its_verdict(corpus_run: CorpusRun, file: CorpusFile) -> None:
    verdict = corpus_run.verdicts[file.name]
    assert verdict["kind"] in file.expected, verdict
    assert (verdict["outcome"] == "passed") == (verdict["kind"] == "pass")


def test_the_corpus_is_whole(corpus_run: CorpusRun) -> None:
    assert len(FILES) == 107
    assert set(corpus_run.verdicts) == {file.name for file in FILES}


def test_no_secret_was_read(corpus_run: CorpusRun) -> None:
    """The verdict alone would hide a leak: the answer returns 100000 plus the number of files it read."""
    assert corpus_run.verdicts["093_secrets.py"]["first_observed"] == "100000"


def test_nothing_is_left_behind(corpus_run: CorpusRun) -> None:
    assert corpus_run.left_behind == []


def test_no_file_of_the_host_has_changed(corpus_run: CorpusRun) -> None:
    assert corpus_run.host_changed == []


@functools.cache
def _folder_next_door() -> Path:
    return ROOT.parent / "shared" / "sandbox-corpus"


def test_the_vendored_copy_is_the_published_one() -> None:
    if not _folder_next_door().is_dir():
        pytest.skip("the shared folder is not here to compare with")
    published = {path.name: path.read_bytes() for path in _folder_next_door().glob("*.py")}
    assert {file.name: file.data for file in FILES} == published
