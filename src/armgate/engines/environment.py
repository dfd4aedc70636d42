"""The environment of a server's program: what of ours it may see, and what of it may be written down."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from armgate.errors import BootError

PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "HF_HOME", "HF_HUB_CACHE", "HF_TOKEN")
PASSED_ON_PREFIXES = ("CUDA_", "NCCL_", "GLOO_", "OMP_", "MKL_", "NVIDIA_", "ROCM_", "HIP_")
UNRECORDED_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")
SYSTEM_LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/local/lib")


def inherited_environment() -> dict[str, str]:
    """Variables of ours that a server may see; everything else stays out."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in PASSED_ON or name.startswith(PASSED_ON_PREFIXES)
    }


def passed_on(names: Iterable[str]) -> dict[str, str]:
    """The variables of ours that a campaign names for its server; a BootError where one is not set."""
    unset = [name for name in names if name not in os.environ]
    if unset:
        raise BootError("variable_unset", f"pass_env names {', '.join(unset)}, which is not set here")
    return {name: os.environ[name] for name in names}


def recordable(environment: Mapping[str, str], hidden: Collection[str] = ()) -> dict[str, str]:
    """The environment as it may be written down: `hidden` and names of credentials lose their values."""
    return {
        name: "(set, not recorded)"
        if name in hidden or any(word in name for word in UNRECORDED_WORDS)
        else value
        for name, value in sorted(environment.items())
    }


def find_preloads(patterns: tuple[str, ...], python: Path) -> tuple[list[str], list[str]]:
    """Libraries for LD_PRELOAD (first match of each pattern in the engine's environment, then the system)."""
    roots = [python.parent.parent, *(Path(folder) for folder in SYSTEM_LIBRARIES)]
    found: list[str] = []
    missing: list[str] = []
    for pattern in patterns:
        match = next((path for root in roots for path in sorted(root.rglob(pattern))), None)
        (missing if match is None else found).append(pattern if match is None else str(match))
    return found, missing
