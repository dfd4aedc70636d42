"""Attached arms: a client of a server that is there, which is the same server afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from armgate.model.outcome import ArmVerdict
from support.running import Running
from support.runs import run
from support.stand_in import SmallWorkspace


@pytest.fixture
def served(small: SmallWorkspace) -> Iterator[Running]:
    server = Running(
        "--model-id", "theirs", "--replies", small.replies("theirs"), "--api-key", "sk-planted-key-1"
    )
    yield server
    server.stop()


def attached(small: SmallWorkspace, served: Running, **launcher: Any) -> Path:
    key = small.root / "key"
    key.write_text("sk-planted-key-1\n")
    key.chmod(0o600)
    given = {"kind": "attach", "url": served.url + "/v1", "api_key_file": str(key), **launcher}
    return small.campaign(base={"launcher": given, "serve": {}})


def test_an_attached_arm_is_judged_like_any_other(small: SmallWorkspace, served: Running) -> None:
    folder, result = run(small, attached(small, served))
    record = result.records["base"]
    assert record.arm_verdict is ArmVerdict.ACCEPTED, record.reasons
    boot = json.loads(folder.boot("base", 0).record.read_text())
    assert boot["resolved"]["id"] == "theirs"
    assert [pin["state"] for pin in boot["pins"]] == ["unverified"]
    assert any("changed the contents of its caches" in limit for limit in record.limits)


def test_the_server_is_left_alone(small: SmallWorkspace, served: Running) -> None:
    before = psutil.Process(served.process.pid).create_time()
    run(small, attached(small, served))
    assert served.process.poll() is None
    assert psutil.Process(served.process.pid).create_time() == before


def test_the_key_is_in_no_file_of_the_run(small: SmallWorkspace, served: Running) -> None:
    folder, _ = run(small, attached(small, served))
    files = [path for path in folder.root.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if b"sk-planted-key-1" in path.read_bytes()]


@pytest.mark.parametrize(
    ("launcher", "cause"),
    [
        ({"url": "http://127.0.0.1:9"}, "unreachable"),
        ({"model": "other"}, "wrong_model"),
        ({"api_key_file": "no/such/file"}, "api_key_missing"),
        ({"api_key_file": None}, "api_key_refused"),
    ],
)
def test_what_cannot_be_attached_to_is_told(
    small: SmallWorkspace, served: Running, launcher: dict[str, Any], cause: str
) -> None:
    folder, result = run(small, attached(small, served, **launcher))
    assert result.records["base"].arm_verdict is ArmVerdict.NOT_BOOTED
    assert json.loads(folder.boot("base", 0).record.read_text())["cause"] == cause


def test_the_command_takes_the_one_model_that_a_server_offers(small: SmallWorkspace, served: Running) -> None:
    small.campaign()
    words = [
        "attach",
        served.url,
        "--ladder",
        "gates/small.yaml",
        "--api-key-env",
        "PLANTED",
        "--json",
        "--quiet",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "armgate", *words, "--workspace", str(small.root)],
        capture_output=True,
        text=True,
        env={**os.environ, "PLANTED": "sk-planted-key-1"},
        check=False,
    )
    assert json.loads(done.stdout)["arms"]["attached"]["arm_verdict"] == "accepted", done.stderr


def test_pins_that_nobody_can_check_fail_where_the_campaign_demands_a_check(
    small: SmallWorkspace, served: Running
) -> None:
    path = attached(small, served)
    path.write_text(json.dumps({**json.loads(path.read_text()), "require_verified": True}))
    _, result = run(small, path)
    record = result.records["base"]
    assert record.arm_verdict is not ArmVerdict.ACCEPTED
    assert "does not show it" in record.reasons[0]
