"""A run full of hostile replies, told on a terminal: nothing in it steers the terminal."""

import re

import pytest
from typer.testing import CliRunner

from armgate.cli.app import app
from armgate.reporting.run_folder import RunFolder
from support.stand_in import register

STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@pytest.mark.parametrize("command", ["judge", "compare", "verify"])
def test_commands_tell_hostile_words_inert(hostile_run: RunFolder, command: str) -> None:
    register()
    told = CliRunner().invoke(app, [command, str(hostile_run.root)])
    assert told.exit_code in (0, 1), told.output
    assert not STEERING.search(told.output)


def test_the_reason_is_told_all_the_same(hostile_run: RunFolder) -> None:
    register()
    told = CliRunner().invoke(app, ["judge", str(hostile_run.root)])
    assert "window.owned=1" in told.output
