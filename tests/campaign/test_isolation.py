"""Arms do not inherit: caches emptied by the server's own word, memory back before the next boot."""

from __future__ import annotations

import pytest

from armgate.campaign.returned_memory import TOLERANCE_BYTES, memory_returned
from armgate.client.journal import read_journal
from armgate.errors import DeclarationError
from armgate.model.memory import GpuMemory
from support.runs import run
from support.stand_in import LADDER, SmallWorkspace


def test_a_reset_is_believed_by_its_body(small: SmallWorkspace) -> None:
    small.ladder = [dict(LADDER[0])]
    usual = {"replies": small.replies("usual")}
    folder, result = run(
        small,
        small.campaign(
            emptied={"reset_prefix_cache": True},
            kept={"reset_prefix_cache": True, "serve": {**usual, "reset_fails": True}},
        ),
    )
    assert result.records["emptied"].arm_verdict.value == "accepted"
    (gate,) = [gate for gate in result.records["kept"].gates if gate.gate == "responds"]
    assert (gate.outcome.value, gate.because_of) == ("skipped", "prefix_cache_not_reset")
    resets = {
        arm: [
            e["fault"] for e in read_journal(folder.boot(arm, 0).ledger) if e["event"] == "prefix_cache_reset"
        ]
        for arm in ("base", "emptied", "kept")
    }
    assert (resets["base"], resets["emptied"]) == ([], [None])
    assert "HTTP 200" in resets["kept"][0]


def test_an_attached_server_is_never_flushed(small: SmallWorkspace) -> None:
    launcher = {"kind": "attach", "url": "http://127.0.0.1:9"}
    with pytest.raises(DeclarationError, match="never flushed"):
        run(small, small.campaign(theirs={"launcher": launcher, "reset_prefix_cache": True}))


def gpus(*used: int | None) -> tuple[GpuMemory, ...]:
    return tuple(GpuMemory(index=n, used_bytes=bytes_, total_bytes=2**36) for n, bytes_ in enumerate(used))


@pytest.mark.anyio
async def test_memory_that_comes_back_late_is_waited_for() -> None:
    readings = iter([gpus(2**34), gpus(TOLERANCE_BYTES)])
    assert await memory_returned(gpus(0), lambda: next(readings), 60.0) == []


@pytest.mark.anyio
async def test_memory_that_does_not_come_back_is_told() -> None:
    (told,) = await memory_returned(gpus(0, None), lambda: gpus(2**30, 2**30), 0.0)
    assert told.startswith("accelerator 0: 1.00 GiB more in use")
    assert await memory_returned(None, lambda: None, 0.0) == []
