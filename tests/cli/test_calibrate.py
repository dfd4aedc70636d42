"""The command against its own server, with streams too short to tell anything of the machine."""

import json
import os
import subprocess
import sys
from pathlib import Path

from armgate.model.calibration import Calibration


def calibrate(state: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "armgate", "calibrate", "--seconds", "0.2", "--no-steps", *words],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "XDG_STATE_HOME": str(state)},
    )


def test_the_error_is_printed_and_kept(tmp_path: Path) -> None:
    told = json.loads(calibrate(tmp_path, "--json").stdout)
    found = Calibration.model_validate(told["calibration"], strict=False)
    assert Calibration.model_validate_json(Path(told["stored"]).read_bytes()) == found
    assert [level.streams for level in found.levels] == [1, 8, 64]
    assert [level.exchanges for level in found.levels] == [5, 16, 128]
    for level in found.levels:
        assert level.stamp_delay_s.n == 20 * level.exchanges
        assert set(level.rate_errors) == {
            "decode_wall", "decode_wall_rest", "decode_span", "decode_span_exact", "end_to_end", "prefill",
        }  # fmt: skip
        assert level.stamp_delay_s.median > -1e-4, "nothing is stamped before it was written"


def test_for_people_there_is_a_table_and_nothing_is_kept_unless_wanted(tmp_path: Path) -> None:
    out = calibrate(tmp_path, "--no-keep").stdout
    assert "ttft error, ms" in out
    assert "highest rate held: not tried" in out
    assert not list(tmp_path.rglob("*"))
