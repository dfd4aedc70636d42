from __future__ import annotations

from pathlib import Path

import pytest

from armgate.campaign.calibration import calibration_path, judged_step, machine, store, stored
from armgate.errors import UsageError
from armgate.model.calibration import NOT_CALIBRATED, Calibration, LevelError, Spread
from armgate.reporting.quality import clock_words


def spread(value: float) -> Spread:
    return Spread.of([value])


def level(delay_s: float = 0.001, rate: float = 0.0, late_s: float = 0.001) -> LevelError:
    return LevelError(
        streams=64,
        deltas_per_s=6400.0,
        exchanges=64,
        stamp_delay_s=spread(delay_s),
        ttft_error_s=spread(0.0025),
        rate_errors={"decode_span": spread(rate), "prefill": spread(0.5)},
        hand_over_s=spread(0.02),
        server_lateness_s=spread(late_s),
        cpu_s_per_delta=5e-5,
    )


def calibration() -> Calibration:
    steps = (judged_step(level()), judged_step(level(delay_s=0.2)))
    return Calibration(
        armgate_version="1.2.3",
        created_utc="2026-11-30T12:00:00+00:00",
        machine=machine(),
        levels=(level(rate=-0.0012),),
        steps=steps,
    )


@pytest.mark.parametrize(
    ("found", "held", "limited_by"),
    [
        (level(), True, None),
        (level(delay_s=0.2), False, "client"),
        (level(rate=-0.02), False, "client"),
        (level(delay_s=0.2, late_s=0.2), False, "server"),
    ],
)
def test_a_rate_is_held_where_stamps_follow_and_rates_are_right(
    found: LevelError, held: bool, limited_by: str | None
) -> None:
    step = judged_step(found)
    assert (step.held, step.limited_by) == (held, limited_by)


def test_a_figure_is_kept_for_this_machine_and_names_no_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert stored() is None
    path = store(calibration())
    assert path == calibration_path()
    assert path.is_relative_to(tmp_path)
    assert stored() == calibration()
    ident = Path("/etc/machine-id")
    if ident.exists() and ident.read_text().strip():
        assert ident.read_text().strip() not in str(path) + path.read_text()


def test_a_damaged_figure_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = store(calibration())
    path.write_text('{"levels": 1}')
    with pytest.raises(UsageError, match=f"{path.name} is no calibration"):
        stored()


def test_reports_quote_the_figure_or_say_that_there_is_none() -> None:
    assert clock_words(None) == NOT_CALIBRATED
    words = clock_words(calibration())
    assert "64: +2.5 / +2.5 ms" in words
    assert "within 0.12 %" in words, "of decoding; prefill is only TTFT again"
    assert "6400 deltas/s held" in words
    assert "busy" not in words
    busy = calibration().model_copy(update={"levels": (level(late_s=0.009),)})
    assert "the machine was busy then (the server itself was 9 ms late)" in clock_words(busy)
