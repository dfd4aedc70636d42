from __future__ import annotations

import pytest

from armgate.model.outcome import Family
from armgate.model.refusal import refusal_of
from armgate.model.response import ServerError

SGLANG_INPUT = "The input (85050 tokens) is longer than the model's context length (32768 tokens)."
SGLANG_SUM = (
    "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total "
    "of 4320 tokens: 1320 tokens from the input messages and 3000 tokens for the completion."
)
SGLANG_BOTH = SGLANG_SUM.replace("1320", "8000")
VLLM_SUM = (
    "'max_tokens' or 'max_completion_tokens' is too large: 9000. This model's maximum context length is 8192 "
    "tokens and your request has 31 input tokens (9000 > 8192 - 31)."
)
VLLM_OLD = (
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens "
    "(4500 in the messages, 500 in the completion)."
)
LLAMA = "the request exceeds the available context size, try increasing it"


@pytest.mark.parametrize(
    ("status", "message", "cause"),
    [
        (400, SGLANG_INPUT, "context_rejected"),
        (400, SGLANG_SUM, "max_tokens_overflow"),
        (400, SGLANG_BOTH, "context_rejected"),
        (400, VLLM_SUM, "max_tokens_overflow"),
        (400, VLLM_OLD, "context_rejected"),
        (500, LLAMA, "context_rejected"),
        (400, "prompt is too long for the context window of 4096", "context_rejected"),
        (400, "min_p is not yet supported with speculative decoding.", "request_unsupported_on_arm"),
        (400, "[{'type': 'extra_forbidden', 'loc': ('body', 'x')}]", "request_unsupported_on_arm"),
        (400, "something else", "request_refused"),
        (401, "no key", "unauthorised"),
        (404, "The model does not exist", "not_served"),
        (429, "slow down", "rate_limited"),
        (503, "busy", "server_error"),
        (500, "internal", "server_error"),
        (307, "no message", "redirected"),
    ],
)  # fmt: skip
def test_causes(status: int, message: str, cause: str) -> None:
    void = refusal_of(status, [ServerError(message=message)], None, None)
    assert (void.cause, void.fails_as) == (cause, None)
    assert message in void.message


def test_a_parameter_that_the_error_names_is_told() -> None:
    void = refusal_of(400, [ServerError(message="bad value", param="top_k")], None, None)
    assert void.cause == "request_unsupported_on_arm"
    assert "top_k" in void.message


def test_a_crash_that_the_answer_admits_fails() -> None:
    dead = ServerError(message="EngineCore encountered an issue. See stack trace (above) for the root cause.")
    assert refusal_of(500, [dead], None, None).fails_as is Family.RUNTIME


def test_the_context_is_held_against_the_promise() -> None:
    told = [ServerError(message=LLAMA, details={"n_prompt_tokens": 14429, "n_ctx": 8192})]
    promised = refusal_of(400, told, 16384, None)
    assert (promised.cause, promised.fails_as) == ("context_rejected", Family.RUNTIME)
    assert refusal_of(400, told, 8192, None).cause == "out_of_range"
    named = [ServerError(message=SGLANG_INPUT)]
    assert refusal_of(400, named, 32768, None).cause == "out_of_range"
    assert refusal_of(400, named, 131072, None).fails_as is Family.RUNTIME
    assert refusal_of(400, [ServerError(message=LLAMA)], 8192, 8000).fails_as is Family.RUNTIME


def test_an_error_without_a_body_has_a_cause_all_the_same() -> None:
    assert refusal_of(500, [], None, None).cause == "server_error"


WORDINGS = [
    ("This model's maximum context length is 8192 tokens. However, your prompt contains 9000 input tokens, "
     "which exceeds this limit even without any output tokens.", 9000, 8192),
    ("This model's maximum context length is 8192 tokens. However, your prompt contains at least 8193 input "
     "tokens, which exceeds this limit even without any output tokens.", 8193, 8192),
    ("The decoder prompt (length 9000) is longer than the maximum model length of 8192. Make sure that "
     "`max_model_len` is no smaller than the number of text tokens.", 9000, 8192),
    (VLLM_OLD, 4500, 4096),
    (SGLANG_INPUT, 85050, 32768),
    ("request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it", 9000, 8192),
    ("Requested tokens (9000) exceed context window of 8192", 9000, 8192),
    ("Input validation error: `inputs` must have less than 8192 tokens. Given: 9000", 9000, 8192),
    ("prompt is too long for the context window of 4096", None, 4096),
    ("Prompt length (9000) exceeds maximum input length (8192). Set log level to info", 9000, 8192),
    ("Request prompt has 9000 tokens in total, larger than the model input length limit 8192.", 9000, 8192),
    ("Prompt length 9000 is greater than max_seq_len 8192", 9000, 8192),
    ("prompt is too long: 9000 tokens > 8192 maximum", 9000, 8192),
]  # fmt: skip


@pytest.mark.parametrize(("message", "prompt", "limit"), WORDINGS)
def test_every_wording_is_a_context_that_was_not_served_with_both_numbers(
    message: str, prompt: int | None, limit: int
) -> None:
    void = refusal_of(400, [ServerError(message=message)], 131_072, None, cap_tokens=64)
    assert (void.cause, void.fails_as) == ("context_rejected", Family.RUNTIME)
    assert (void.numbers.get("prompt_tokens"), void.numbers["limit_tokens"]) == (prompt, limit)
    assert void.numbers["window_tokens"] == 131_072


def test_a_code_is_enough_to_know_a_refusal_for_length() -> None:
    void = refusal_of(400, [ServerError(message="no", code="context_length_exceeded")], 8192, 8000)
    assert (void.cause, void.fails_as) == ("context_rejected", Family.RUNTIME)


def test_a_window_that_holds_prompt_and_cap_is_not_served_if_the_sum_is_refused() -> None:
    error = [ServerError(message=SGLANG_SUM)]
    assert refusal_of(400, error, 8192, 1320, cap_tokens=3000).fails_as is Family.RUNTIME
    assert refusal_of(400, error, 4096, 1320, cap_tokens=3000).cause == "max_tokens_overflow"
    # By one token that only the server counts, the cap was ours to make smaller.
    assert refusal_of(400, error, 4319, 1319, cap_tokens=3000).cause == "max_tokens_overflow"
