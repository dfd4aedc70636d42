"""The `armgate` command with the stand-in engine: `python stand_in_command.py run campaign.yaml ...`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

if __name__ == "__main__":
    from armgate.cli.app import main
    from support.stand_in import register

    register()
    main()
