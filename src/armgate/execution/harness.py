"""The harness that runs inside every sandbox: read from the installed `sandbox/` folder, sent as text."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from armgate.errors import SandboxUnavailable
from armgate.model.base import Digest, Json, digest_bytes

MODULES = (
    *("syscalls", "policy", "bpf", "confine", "scratch", "measure"),
    *("values", "wire", "case", "supervisor", "zygote"),
)
"""In the order of their imports."""

BOOTSTRAP = """\
import sys
sys.path[:] = [place for place in sys.path if place]
import builtins, json, os, types
def take(size):
    data = b""
    while len(data) < size:
        part = os.read(0, size - len(data))
        if not part:
            os._exit(0)
        data += part
    return data
order = json.loads(take(int.from_bytes(take(4), "big")))
for name, source in order["modules"]:
    module = types.ModuleType(name)
    module.__dict__["__builtins__"] = dict(builtins.__dict__)
    module.__file__ = "harness"
    sys.modules[name] = module
    exec(compile(source, "harness/" + name + ".py", "exec"), module.__dict__)
sys.modules["zygote"].main(order["config"])
"""
"""Each module gets a copy of the built-ins, so that an answer that replaces one does not reach them."""

PYTHON_FLAGS = ("-S", "-s", "-B", "-c", BOOTSTRAP)
ENVIRONMENT = {"PYTHONHASHSEED": "0", "LANG": "C.UTF-8", "MALLOC_ARENA_MAX": "2"}
"""A fixed hash seed: the order of a set of strings must not differ between two runs of one answer."""


@dataclasses.dataclass(frozen=True)
class Harness:
    """Source texts by module name, and the digest over them that verdicts name."""

    modules: tuple[tuple[str, str], ...]
    digest: Digest

    def order(self, config: dict[str, Json]) -> bytes:
        """What a fresh sandbox reads first: the modules and their configuration."""
        body = json.dumps({"modules": self.modules, "config": config}).encode()
        return len(body).to_bytes(4, "big") + body


def sandbox_folder() -> Path:
    """The installed `sandbox/` folder; in a source checkout, the one at its root."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "sandbox", package.parents[1] / "sandbox"):
        if (folder / "harness" / "zygote.py").is_file():
            return folder
    raise SandboxUnavailable("this installation lacks its sandbox/ folder: reinstall armgate")


def load_harness(folder: Path) -> Harness:
    modules = tuple((name, (folder / "harness" / f"{name}.py").read_text("utf-8")) for name in MODULES)
    text = json.dumps([BOOTSTRAP, modules])
    return Harness(modules, digest_bytes(text.encode()))
