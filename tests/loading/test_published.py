from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from armgate.errors import DeclarationError
from armgate.judging.contract import judge_exchange, judge_subject
from armgate.judging.rates import rates_of
from armgate.judging.subject import Subject
from armgate.loading.contracts import load_contract
from armgate.loading.published import load_published
from armgate.model.judgement import Judgement
from armgate.model.published import Origin, PublishedArm, PublishedProbe

ROOT = Path(__file__).resolve().parents[2]
EVIDENCE = ROOT.parent / "shared" / "evidence" / "two-spark-dflash2"

CONTRACTS = {
    "warmup": "ready",
    "startup-warmup": "ready",
    "json": "json-total-label",
    "code": "raw-python",
    "tool": "tool-call",
    "tool-roundtrip": "tool-round-trip",
    "thinking-on": "exactly-703-after-thinking",
    "long-context-120k": "marker-array",
    "speed-korean-0": "korean-prose",
    "speed-korean-1": "korean-prose",
    "speed-prose-1": "english-prose",
}
"""What each of the experiment's probes asks for, as a shipped contract."""


@pytest.fixture(scope="module")
def arms() -> dict[str, PublishedArm]:
    if not EVIDENCE.is_dir():
        pytest.skip("the published evidence is not beside this checkout (../shared/evidence)")
    return load_published(EVIDENCE)


def _judged(probe: PublishedProbe, contract: str) -> Judgement:
    promised = load_contract(ROOT / "contracts" / f"{contract}.yaml")
    if probe.exchange is None:
        return judge_subject(promised, Subject(probe.response))
    return judge_exchange(promised, probe.exchange, probe.response)


def test_every_published_figure_is_reproduced(arms: dict[str, PublishedArm]) -> None:
    assert sorted(arms) == ["baseline", "dflash2-7"]
    probes = [probe for arm in arms.values() for probe in arm.probes.values()]
    assert len(probes) == 18
    for probe in probes:
        for figure in (probe.decode_tok_s, probe.end_to_end_tok_s):
            assert figure.published is not None
            assert figure.value == pytest.approx(figure.published, rel=1e-12), probe.label
        if probe.exchange is not None:
            assert probe.ttft_s.origin is Origin.STREAM
            assert probe.ttft_s.value == probe.ttft_s.published
            # The authors' wall ended with the last byte; ours ends when the answer is whole.
            theirs = probe.response.timings.model_copy(update={"wall_s": probe.response.timings.body_s})
            rate = rates_of(probe.response.model_copy(update={"timings": theirs})).decode_wall_rest
            # An answer of one delta has no pace of its own; the authors printed a rate for it all the same.
            assert rate.absent == "one_text_delivery" or rate.value == pytest.approx(probe.decode_tok_s.value)


def test_usage_read_from_streams_is_that_of_the_result_files(arms: dict[str, PublishedArm]) -> None:
    for arm in arms.values():
        for probe in arm.probes.values():
            result = EVIDENCE / arm.name / f"{probe.label}-result.json"
            if probe.exchange is not None and result.is_file():
                published = json.loads(result.read_text(encoding="utf-8"))
                usage = probe.response.usage
                assert usage is not None
                assert usage.as_sent == published["usage"]
                assert probe.response.content == published["content"]
                assert probe.response.finish_reason == published["finish_reason"]


def test_ttft_names_the_channel_of_the_first_delta(arms: dict[str, PublishedArm]) -> None:
    probes = arms["dflash2-7"].probes
    channels = {name: probes[name].response.timings.ttft_channel for name in ("tool", "thinking-on", "json")}
    assert channels == {"tool": "tool_calls", "thinking-on": "reasoning", "json": "content"}


def test_figures_without_a_stream_say_so(arms: dict[str, PublishedArm]) -> None:
    probe = arms["baseline"].probes["speed-korean-0"]
    assert probe.exchange is None
    assert probe.ttft_s.origin is Origin.PUBLISHED
    assert probe.ttft_s.file == "speed-korean-0-result.json"


def test_shipped_contracts_fail_what_the_authors_failed_and_nothing_else(
    arms: dict[str, PublishedArm],
) -> None:
    arm = arms["dflash2-7"]
    failed = {n for n, p in arm.probes.items() if _judged(p, CONTRACTS[n]).outcome.value == "failed"}
    assert failed == {"code", "thinking-on"} == {failure["probe"] for failure in arm.strict_failures}
    passed = {n for n, p in arm.probes.items() if _judged(p, CONTRACTS[n]).outcome.value == "passed"}
    assert failed | passed == set(arm.probes)


def test_the_baseline_fails_one_code_block(arms: dict[str, PublishedArm]) -> None:
    code = arms["baseline"].probes["code"]
    assert [failure["error"] for failure in arms["baseline"].strict_failures] == ["Expected one code block"]
    found = _judged(code, "one-code-block").violations
    assert [violation.kind for violation in found] == ["several_blocks", "text_between", "text_between"]


def test_prose_behind_the_block_is_listed_though_the_original_gate_missed_it(
    arms: dict[str, PublishedArm],
) -> None:
    code = arms["dflash2-7"].probes["code"]
    for contract, kind in (("raw-python", "prose"), ("one-code-block", "text_after")):
        found = [v for v in _judged(code, contract).violations if v.kind == kind]
        assert len(found) == 1
        assert found[0].span is not None
        content = (code.response.content or "").encode()
        assert content[slice(*found[0].span)].strip().startswith("Wait —".encode())
        assert found[0].span[1] == len(content)
    assert "no_fence" in {violation.clause for violation in _judged(code, "raw-python").violations}


def test_contradictions_say_which_source_was_used(arms: dict[str, PublishedArm]) -> None:
    assert arms["dflash2-7"].contradictions == ()
    (found,) = arms["baseline"].contradictions
    assert (found.what, found.used, found.other) == ("runtime_checks_passed", False, True)
    assert (found.used_from, found.other_from) == ("baseline/quality-report.json", "comparison.json")


def _write(folder: Path, name: str, value: Any) -> None:
    (folder / name).write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


def _made(tmp_path: Path) -> Path:
    arm = tmp_path / "fast"
    arm.mkdir()
    _write(arm, "quality-report.json", {"semantic_checks_passed": True, "strict_failures": []})
    chunk = {"choices": [{"index": 0, "delta": {"content": "READY"}, "finish_reason": "stop"}]}
    usage = {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3}}
    events = [{"elapsed_s": 0.5, "event": chunk}, {"elapsed_s": 0.9, "event": usage}]
    _write(arm, "ready-stream.jsonl", "\n".join(json.dumps(event) for event in events))
    _write(arm, "ready-result.json", {"wall_s": 1.5, "ttft_s": 0.5, "sse_done": True, "decode_est_tps": 2.0})
    return tmp_path


def test_a_stream_is_read_with_its_times(tmp_path: Path) -> None:
    probe = load_published(_made(tmp_path))["fast"].probes["ready"]
    assert (probe.ttft_s.value, probe.decode_tok_s.value, probe.end_to_end_tok_s.value) == (0.5, 2.0, 2.0)
    assert probe.response.done_seen
    timings = probe.response.timings
    assert (timings.wall_s, timings.body_s) == (0.5, pytest.approx(1.5))


def test_what_was_not_published_stays_absent(tmp_path: Path) -> None:
    root = _made(tmp_path)
    (root / "fast" / "ready-result.json").unlink()
    probe = load_published(root)["fast"].probes["ready"]
    assert (probe.wall_s.value, probe.decode_tok_s.value, probe.ttft_s.value) == (None, None, 0.5)
    assert not probe.response.done_seen


def test_bad_files_are_named_with_their_line(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match="holds no arm"):
        load_published(tmp_path)
    root = _made(tmp_path)
    with (root / "fast" / "ready-stream.jsonl").open("a", encoding="utf-8") as file:
        file.write("\nnot json")
    with pytest.raises(DeclarationError, match=r"ready-stream\.jsonl:3: .*not JSON"):
        load_published(root)
    _write(root / "fast", "ready-stream.jsonl", '{"event": {}}')
    with pytest.raises(DeclarationError, match=r"ready-stream\.jsonl:1: elapsed_s: "):
        load_published(root)
