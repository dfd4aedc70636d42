"""The sandbox's own modules, loaded as a sandbox loads them, so that tests can call their functions."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager

from armgate.execution.harness import MODULES, load_harness, sandbox_folder


@contextmanager
def harness_modules(*names: str) -> Iterator[dict[str, types.ModuleType]]:
    """The named modules and what they import; gone from `sys.modules` afterwards."""
    hidden = {name: sys.modules.pop(name) for name in MODULES if name in sys.modules}
    try:
        for name, source in load_harness(sandbox_folder()).modules:
            module = types.ModuleType(name)
            module.__file__ = "harness"
            sys.modules[name] = module
            exec(compile(source, f"{name}.py", "exec"), module.__dict__)
        yield {name: sys.modules[name] for name in names}
    finally:
        for name in MODULES:
            sys.modules.pop(name, None)
        sys.modules.update(hidden)
