"""Run as `python scripts/prepare COMMAND ...`: puts `scripts/` on the path and hands over."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])

from prepare.commands import main  # noqa: E402 - the path must be set first

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
