"""Published copies: nothing that identifies, everything that proves, and refused whole where that fails."""

import json
import socket
from pathlib import Path

import jsonschema
import pytest

from armgate.campaign.facts import run_facts
from armgate.campaign.publication import is_judgeable
from armgate.campaign.publish import publish
from armgate.campaign.rejudge import rejudge
from armgate.campaign.report import renew_report
from armgate.cli.schema import schema_of
from armgate.errors import RecordError, UsageError
from armgate.reporting.checksums import verify
from armgate.reporting.run_folder import RunFolder
from support.stand_in import register

SECRET = "hf_Zq81xTwe93mmKe0"


@pytest.fixture(autouse=True)
def _engine() -> None:
    register()


@pytest.fixture
def source(mixed_copy: RunFolder) -> RunFolder:
    return mixed_copy


def everything(root: Path) -> str:
    return "\n".join(p.read_text("utf-8", "replace") for p in sorted(root.rglob("*")) if p.is_file())


def test_a_copy_with_replies_proves_itself(source: RunFolder, tmp_path: Path) -> None:
    made = publish(source, tmp_path / "out", "yes")
    copy = RunFolder(made.root)
    assert verify(copy.root).intact
    assert rejudge(copy).differences == ()
    theirs, ours = run_facts(source), run_facts(copy)
    assert [(a, b, v.gate, v.outcome) for a, b, v in ours.verdicts()] == [
        (a, b, v.gate, v.outcome) for a, b, v in theirs.verdicts()
    ]
    record = json.loads(copy.publication.read_bytes())
    jsonschema.validate(record, schema_of("publication"))
    assert (record["replies"], record["re_judgeable"]) == ("yes", True)


def test_nothing_that_identifies_is_in_it(source: RunFolder, tmp_path: Path) -> None:
    publish(source, tmp_path / "out", "yes")
    text = everything(tmp_path / "out")
    assert str(source.root.parent) not in text
    assert str(Path.home()) + "/" not in text
    assert f'"{socket.gethostname()}"' not in text
    assert not list((tmp_path / "out").rglob("server.log"))
    boot = json.loads(next((tmp_path / "out").glob("arms/base/boots/00/boot.json")).read_bytes())
    assert boot["argv"][0].startswith("(withheld)/")
    assert boot["environment"].keys() & {"PATH", "HOME", "TMPDIR"} == set()


def test_the_report_of_a_copy_is_the_same_again(source: RunFolder, tmp_path: Path) -> None:
    for replies in ("yes", "no"):
        copy = RunFolder(publish(source, tmp_path / replies, replies).root)
        before = copy.root.joinpath("report.html").read_bytes()
        renew_report(copy)
        assert copy.root.joinpath("report.html").read_bytes() == before
        assert verify(copy.root).intact


def test_a_copy_without_replies_quotes_none_and_says_that_it_proves_nothing(
    source: RunFolder, tmp_path: Path
) -> None:
    copy = RunFolder(publish(source, tmp_path / "out", "no").root)
    text = everything(copy.root)
    assert "yes indeed" not in text
    assert "not re-judgeable" in text
    assert not is_judgeable(copy)
    assert verify(copy.root).intact
    with pytest.raises(RecordError, match="not re-judgeable"):
        rejudge(copy)
    ours, theirs = run_facts(copy), run_facts(source)
    assert {n: r.arm_verdict for n, r in ours.records.items()} == {
        n: r.arm_verdict for n, r in theirs.records.items()
    }


@pytest.mark.parametrize("where", ["exchanges/yes/yes.0.jsonl", "telemetry/yes.before.prom"])
def test_a_known_secret_anywhere_refuses_the_whole_copy(
    source: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setenv("HF_TOKEN", SECRET)
    file = source.boot("base", 0).root / where
    data = file.read_bytes().replace(b"chat.completion.chunk", SECRET.encode())
    series = f'vllm:other{{label="{SECRET}"}} 1\n'.encode() if file.suffix == ".prom" else b""
    file.write_bytes(data + series)
    (source.root / "SHA256SUMS").unlink()
    with pytest.raises(RecordError, match="nothing was published: secret in"):
        publish(source, tmp_path / "out", "yes")
    assert sorted(p.name for p in tmp_path.iterdir()) == [source.root.name]


def test_a_host_name_in_a_reply_refuses_a_copy_with_replies(
    source: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "spark-7f3a.example")
    file = source.boot("base", 0).root / "exchanges/yes/yes.0.jsonl"
    file.write_bytes(file.read_bytes().replace(b"chat.completion.chunk", b"from spark-7f3a today"))
    (source.root / "SHA256SUMS").unlink()
    with pytest.raises(RecordError, match=r"host name in arms/base/.*--replies no"):
        publish(source, tmp_path / "out", "yes")
    assert publish(source, tmp_path / "out", "no").record.re_judgeable is False


def test_a_run_that_was_changed_is_not_published(source: RunFolder, tmp_path: Path) -> None:
    source.quality("base").write_text("{}")
    with pytest.raises(RecordError, match=r"quality\.json"):
        publish(source, tmp_path / "out", "yes")


def test_an_existing_place_is_not_written_into(source: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(UsageError, match="exists already"):
        publish(source, tmp_path / "out", "no")
    assert list((tmp_path / "out").iterdir()) == []
