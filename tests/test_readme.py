"""README.md: its examples are run, and its commands exist."""

import re
import shutil
from pathlib import Path

import pytest

from armgate.campaign.known import known
from armgate.cli.app import app
from armgate.errors import DeclarationError
from armgate.loading.plan import make_plan
from armgate.loading.workspace import Workspace

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()


@pytest.fixture
def ten_lines(tmp_path: Path) -> Path:
    """A workspace with the ten-line campaign."""
    for folder in ("contracts", "gates", "templates"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    (tmp_path / "campaigns").mkdir()
    found = re.search(r"in ten lines\n\n```yaml\n(.*?)```", README, re.S)
    assert found is not None
    path = tmp_path / "campaigns" / "my-model.yaml"
    path.write_text(found[1])
    return path


def test_the_ten_line_campaign_is_valid_and_has_ten_lines(ten_lines: Path) -> None:
    assert len(ten_lines.read_text().splitlines()) == 10
    plan = make_plan(Workspace(ten_lines.parents[1]), ten_lines, known())
    assert [arm.depth for arm in plan.arms.values()] == [0, 3, 7]


def test_breaking_it_tells_what_the_readme_says(ten_lines: Path) -> None:
    text = re.sub(r"revision: [0-9a-f]{40}", "revision: main", ten_lines.read_text())
    ten_lines.write_text(text)
    with pytest.raises(DeclarationError) as caught:
        make_plan(Workspace(ten_lines.parents[1]), ten_lines, known())
    told = str(caught.value).replace(str(ten_lines.parents[1]) + "/", "")
    assert f"```\n{told}\n```" in README


def test_every_command_of_the_readme_exists() -> None:
    there = {c.name or c.callback.__name__ for c in app.registered_commands if c.callback}
    there |= {group.name for group in app.registered_groups}
    named = set(re.findall(r"^\| `armgate (\w+)", README, re.M))
    assert named
    assert named <= there
