from armgate.campaign.batches import batches
from armgate.model.gates import Probe
from armgate.model.load import Arrivals


def test_one_at_a_time_is_a_batch_for_each_request_warm_ups_first() -> None:
    probe = Probe(id="p", prompt="x", samples=2, warm_up=1)
    assert [(b.role, b.numbers) for b in batches(probe, repeats=True)] == [
        ("warm_up", (0,)),
        ("sample", (0,)),
        ("repeat", (0,)),
        ("sample", (1,)),
        ("repeat", (1,)),
    ]


def test_concurrent_requests_are_released_together() -> None:
    probe = Probe(id="p", prompt="x", samples=6, warm_up=4, concurrency=3)
    made = list(batches(probe, repeats=False))
    assert [batch.numbers for batch in made] == [(0, 1, 2), (3,), (0, 1, 2), (3, 4, 5)]
    assert {offset for batch in made for offset in batch.offsets_s} == {0.0}


def test_a_schedule_is_one_batch_of_all_samples_at_their_instants() -> None:
    probe = Probe(id="p", prompt="x", samples=3, arrivals=Arrivals(process="fixed", per_s=10.0))
    (batch,) = batches(probe, repeats=False)
    assert (batch.numbers, batch.offsets_s) == ((0, 1, 2), (0.0, 0.1, 0.2))
