"""Windows of batches: a batch with a member missing is no figure of fewer streams."""

from armgate.judging.load_figures import load_figures
from armgate.model.evidence import Sample
from armgate.model.exchange import Clock
from armgate.model.gates import Probe
from judging.test_kinds import sample, stream

PAIRS = Probe(id="p", prompt="x", max_tokens=64, samples=4, concurrency=2)


def sent(n: int) -> Sample:
    made = sample(stream("a", "b", "c", "d"), PAIRS, n)
    clock = Clock(zero_s=100.0 + 10 * (n // 2), end_s=3.0)
    exchange = made.exchange.model_copy(update={"clock": clock})
    return made.model_copy(update={"batch": n // 2, "exchange": exchange})


def test_whole_batches_are_windows_of_all_their_streams() -> None:
    four = [sent(n) for n in range(4)]
    found = load_figures(four, four)
    assert (found["batch_window"]["n"], found["batch_overlap"]["values"]) == (2, [2.0, 2.0])
    assert "absent" not in found["batch_window"]


def test_a_batch_with_a_member_missing_is_absent() -> None:
    four = [sent(n) for n in range(4)]
    for all_sent in (four, four[1:]):
        found = load_figures(four[1:], all_sent)
        assert found["batch_overlap"]["values"] == [2.0]
        assert found["batch_window"]["n"] == 1
        assert found["batch_window"]["absent"] == ["batch 0: 1 of 2 streams"]


def test_requests_sent_alone_have_no_window() -> None:
    alone = [sent(n).model_copy(update={"batch": n, "probe": Probe(id="p", prompt="x")}) for n in range(2)]
    assert "batch_window" not in load_figures(alone, alone)
