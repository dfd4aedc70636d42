"""The engine's environment: vLLM built for CPU, beside Armgate's own and never imported by it."""

from __future__ import annotations

from prepare import program
from prepare.environment import Environment
from prepare.machine import GB, Needs
from prepare.places import Places
from prepare.refusal import Refusal
from prepare.step import Step

CPU_INDEX = "https://download.pytorch.org/whl/cpu"

# vLLM's CPU distribution asks for these beside torch's CPU build. The ones that the index has were made
# for another build of torch and break the engine's start ("operator torchvision::nms does not exist").
UNWANTED = ("torchvision", "torchaudio", "torchcodec")

_SMOKE = """
import importlib.util, sys
import torch, transformers, gguf, accelerate
found = [name for name in sys.argv[1:] if importlib.util.find_spec(name)]
assert not found, f"these must not be installed: {found}"
assert importlib.util.find_spec("vllm.entrypoints.openai.api_server"), "vLLM has no API server"
"""


def engine_environment(places: Places) -> Environment:
    locks = (places.engine_files / "requirements.lock", places.engine_files / "torch.lock")
    return Environment(places.made / "engine", locks, places.logs / "engine.log")


def engine_step(places: Places) -> Step:
    environment = engine_environment(places)
    return Step(
        title="engine: vLLM's CPU build in .armgate/engine (3.5 GB)",
        usually="2 to 4 minutes",
        needs=Needs(
            places.made, disk=5 * GB, venv=True, sample=places.engine_files / "requirements.lock", engine=True
        ),
        is_done=environment.is_whole,
        do=lambda: environment.make(lambda made: _fill(made, places)),
    )


def _fill(environment: Environment, places: Places) -> None:
    """Install without dependency resolution: the lock is complete, and leaves `UNWANTED` out."""
    _install_torch(environment, places)
    environment.install("--require-hashes", "-r", places.engine_files / "requirements.lock")
    program.run(
        [environment.python, "-I", "-c", _SMOKE, *UNWANTED],
        environment.log,
        f"read {environment.log}; the environment does not hold what the lock files promise",
    )


def _install_torch(environment: Environment, places: Places) -> None:
    """torch's CPU build: from this machine's own package sources if they have it, else from PyTorch's."""
    wanted = ("--require-hashes", "-r", places.engine_files / "torch.lock")
    try:
        environment.install(*wanted)
        print("       torch: from the package sources that pip is configured with here", flush=True)
    except Refusal:
        print(f"       torch: not in pip's configured sources; taking it from {CPU_INDEX}", flush=True)
        environment.install(*wanted, "--extra-index-url", CPU_INDEX)
