"""Each peer in an environment of its own under `.armgate/bench/`, made once; failures become rows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from peer_bench.peers import Client

ROOT = Path(__file__).resolve().parents[2]
STAMP = "finished"


class Missing(Exception):  # noqa: N818 - a row of the table
    """Why a peer cannot be run here."""


def environment_of(client: Client, parent: Path) -> Path:
    """The folder of the client's environment, installed if need be. Raises Missing with the reason."""
    if client.environment:
        tokenizer()
    if client.environment == "engine":
        return _engine()
    if client.package is None:
        return parent
    folder = parent / client.environment
    stamp = folder / STAMP
    if not stamp.exists() or stamp.read_text() != client.package:
        _install(folder, client.package)
        stamp.write_text(client.package)
    return folder


def tokenizer() -> Path:
    """A local tokenizer, which every peer insists on. Raises Missing where there is none."""
    path = Path(os.environ.get("ARMGATE_ENGINE_MODEL", ROOT / ".armgate/models/smollm2-135m-instruct"))
    if not path.is_dir():
        raise Missing(f"{path} does not exist; scripts/demo --prepare makes it")
    return path.absolute()


def _engine() -> Path:
    python = Path(os.environ.get("ARMGATE_ENGINE_PYTHON", ROOT / ".armgate/engine/bin/python"))
    if not python.exists():
        raise Missing(f"{python} does not exist; scripts/demo --prepare makes it")
    return python.absolute().parents[1]


def _install(folder: Path, package: str) -> None:
    print(f"installing {package} ...", file=sys.stderr)
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True, capture_output=True)
        pip = [folder / "bin" / "pip", "install", "--quiet", package]
        subprocess.run(pip, check=True, capture_output=True, text=True)
    except subprocess.CalledProcessError as error:
        said = (error.stderr or "no words").strip().splitlines()
        raise Missing(f"installing {package} failed: {said[-1]}") from None
    except OSError as error:
        raise Missing(f"installing {package} failed: {error}") from None
