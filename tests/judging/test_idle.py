from __future__ import annotations

from armgate.judging.idle import after_pause, load_suspects
from armgate.model.evidence import Sample
from armgate.model.exchange import Clock, Exchange, Fate
from armgate.model.gates import Probe
from armgate.model.response import Response, Timings


def test_slow_requests_after_a_pause_are_suspects() -> None:
    assert load_suspects([18.2, 0.21, 0.2, 17.9, 0.2], [0, 1, 1, 420, 1], 300) == (0, 3)


def test_a_slow_request_without_a_pause_and_a_quick_one_after_it_are_none() -> None:
    assert load_suspects([0.3, 0.21, 9.0, 0.3, 0.2], [0, 1, 1, 420, 1]) == ()


def test_without_others_to_compare_with_none_is_suspect() -> None:
    assert load_suspects([18.0, 17.0], [0, 400]) == ()
    assert load_suspects([], []) == ()


def sample(n: int, zero_s: float | None, ttft_s: float, probe: str = "p", cold: bool = False) -> Sample:
    clock = Clock(zero_s=zero_s, end_s=2.0)
    exchange = Exchange(request={}, status=200, headers={}, frames=(), fate=Fate.COMPLETE, clock=clock)
    timings = Timings(ttft_s=ttft_s)
    return Sample(
        id=f"{probe}.{n}",
        probe=Probe(id=probe, prompt="p"),
        n=n,
        path="p",
        exchange=exchange,
        response=Response(timings=timings),
        cold=cold,
    )


def test_pauses_are_read_off_the_clocks_of_the_exchanges() -> None:
    sent = [sample(0, 100.0, 0.2), sample(1, 103.0, 0.2), sample(2, 400.0, 9.0), sample(3, 403.0, 0.2)]
    assert [s.id for s in after_pause(sent)] == ["p.2"]
    near = [sample(0, 100.0, 0.2), sample(1, 103.0, 0.2), sample(2, 110.0, 9.0)]
    assert after_pause(near) == []


def test_a_first_sample_is_a_suspect_only_as_the_boots_first_request() -> None:
    rest = [sample(1, 103.0, 0.2), sample(2, 106.0, 0.2)]
    assert after_pause([sample(0, 100.0, 9.0), *rest]) == []
    assert [s.id for s in after_pause([sample(0, 100.0, 9.0, cold=True), *rest])] == ["p.0"]
    assert after_pause([sample(0, None, 9.0, cold=True), *rest]) == []


def test_probes_are_compared_with_their_own() -> None:
    slow = [sample(n, 100.0 + 3 * n, 9.0, probe="long") for n in range(3)]
    quick = [sample(n, 400.0 + 3 * n, 0.2) for n in range(3)]
    assert after_pause([*quick, *slow]) == []
