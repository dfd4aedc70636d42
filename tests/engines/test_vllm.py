"""What vLLM is started with, and what its log says."""

import json
from pathlib import Path

from armgate.engines.protocol import Address, ArmFiles, Located
from armgate.engines.vllm import Vllm
from armgate.model.arms import Arm, ProcessLauncher, Speculative

FILES = ArmFiles(target=Located("target", path=Path("/models/target")))


def arm(**changes: object) -> Arm:
    return Arm(
        name="a",
        engine="vllm",
        launcher=ProcessLauncher(kind="process", python="python"),
        target="target",
        reference="a",
    ).model_copy(update=changes)


def argv(of: Arm, files: ArmFiles = FILES) -> list[str]:
    return list(Vllm().argv(of, files, "served", Address("127.0.0.1", 8123)))


def test_settings_become_flags() -> None:
    words = argv(arm(serve={"max_model_len": 4096, "enforce_eager": True, "enable_prefix_caching": False}))
    assert words[words.index("--max-model-len") + 1] == "4096"
    assert "--enforce-eager" in words
    assert "--no-enable-prefix-caching" in words
    assert words[words.index("--served-model-name") + 1] == "served"
    assert words[words.index("--host") + 1] == "127.0.0.1"


def test_depth_counts_draft_tokens_without_the_bonus_token() -> None:
    speculative = Speculative(method="ngram", depth=7, options={"prompt_lookup_max": 4})
    words = argv(arm(speculative=speculative))
    config = json.loads(words[words.index("--speculative-config") + 1])
    assert config == {"method": "ngram", "num_speculative_tokens": 7, "prompt_lookup_max": 4}


def test_draft_and_revisions_are_passed_explicitly() -> None:
    files = ArmFiles(
        target=Located("t", repository="org/target", revision="a" * 40),
        draft=Located("d", repository="org/draft", revision="b" * 40),
    )
    words = argv(arm(speculative=Speculative(method="dflash", depth=3, draft="d")), files)
    config = json.loads(words[words.index("--speculative-config") + 1])
    assert words[words.index("--revision") + 1] == "a" * 40
    assert (config["model"], config["revision"]) == ("org/draft", "b" * 40)


def test_min_p_is_refused_only_under_speculation() -> None:
    assert Vllm().refused_parameters(arm()) == frozenset()
    deep = arm(speculative=Speculative(method="ngram", depth=1))
    assert "min_p" in Vllm().refused_parameters(deep)


def test_caches_of_a_boot_stay_in_its_scratch() -> None:
    environment = Vllm().environment(arm(), Path("/scratch"))
    assert environment["VLLM_CACHE_ROOT"].startswith("/scratch/")


def test_the_log_says_why_a_boot_failed() -> None:
    log = "INFO fine\nERROR OSError: [Errno 98] Address already in use\nRuntimeError: engine failed\n"
    found = Vllm().failure(log)
    assert found is not None
    assert (found.cause, found.line) == ("port_in_use", "ERROR OSError: [Errno 98] Address already in use")
    assert Vllm().failure("INFO fine\n") is None
