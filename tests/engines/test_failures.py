"""Wordings of failed starts: causes come before their echoes, and warnings are no causes."""

import pytest

from armgate.engines.failures import compiled_line, draft_refused, find_failure, incomplete_ranks
from armgate.engines.revisions import refuse_other_revisions
from armgate.errors import BootError


def test_the_cause_is_found_below_its_echoes() -> None:
    log = "MemoryError: first\nOSError: [Errno 98] Address already in use\nRuntimeError: engine failed\n"
    found = find_failure(log)
    assert found is not None
    assert found.cause == "port_in_use"
    assert found.line.startswith("OSError")


def test_a_log_of_warnings_gives_no_cause() -> None:
    assert find_failure("WARNING limits may cause `OSError: [Errno 24]`\nINFO done\n") is None


def test_ranks_that_never_finish_are_named_with_their_interfaces() -> None:
    lines = [
        "(rank0) NCCL INFO comm 0xa rank 0 nranks 2 - Init COMPLETE",
        "(rank1) NCCL INFO Bootstrap : Using enp1s0f0np0",
    ]
    found = incomplete_ranks("\n".join(lines))
    assert found is not None
    assert found.values == {"ranks_complete": [0], "ranks_missing": [1]}
    assert "1 (enp1s0f0np0)" in found.line
    assert incomplete_ranks(lines[0].replace("nranks 2", "nranks 1")) is None
    assert incomplete_ranks("nothing of NCCL") is None


def test_compilations_and_refused_drafts_are_found_in_a_log() -> None:
    line = "JIT compilation during inference: eagle_prepare_inputs_padded_kernel"
    assert compiled_line(f"x\nINFO {line}\ny") == line
    assert compiled_line("nothing") is None
    refused = "draft model vocab type must match target model to use speculation"
    assert draft_refused(f"a\n{refused}\nserver is listening") == refused
    assert draft_refused("server is listening") is None


def test_a_revision_loaded_is_held_against_the_pin() -> None:
    asked = {"revision": "a" * 40, "tokenizer_revision": "a" * 40}
    refuse_other_revisions(asked, {"revision": "a" * 8})
    with pytest.raises(BootError, match="tokenizer_revision was loaded at bbbb"):
        refuse_other_revisions(asked, {"revision": "a" * 40, "tokenizer_revision": "bbbb"})
