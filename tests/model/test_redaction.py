"""Credentials in logs: what is masked, what stays, and that no rule takes long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armgate.model.redaction import LogMask, names_a_credential, redacted

KEY = "sk-FAKE-abc123"
TOKEN = "hf_FAKEabcdefgh"


@pytest.mark.parametrize(
    "line",
    [
        f"non-default args: {{'model_tag': 'org/model', 'api_key': '{KEY}', 'hf_token': '{TOKEN}'}}",
        f'server_args={{"model_path":"org/model","api_key":"{KEY}","admin_api_key":"{KEY}"}}',
        f"docker run -e HF_TOKEN={TOKEN} -e X=1 vllm/vllm-openai --api-key {KEY}",
        f"curl -H 'Authorization: Bearer {KEY}' http://127.0.0.1:8000/v1/models",
        f"GET http://host/v1/x?token={KEY}&y=2",
        f"Namespace(api_key='{KEY}', port=8000)",
        f"OPENAI_API_KEY: {KEY}",
        f"cloning https://user:{KEY}@example.org/repository.git",
        f"password = {KEY}",
        f"the key {KEY} was refused",
        f'api_key=["{KEY}"]',
        f"AWS_SECRET_ACCESS_KEY={KEY}",
    ],
)
def test_no_byte_of_a_credential_stays_and_every_name_does(line: str) -> None:
    masked = redacted(line.encode()).decode()
    assert KEY not in masked
    assert TOKEN not in masked
    assert "FAKE" not in masked
    assert len(masked) == len(line)
    for name in ("api_key", "hf_token", "HF_TOKEN", "Authorization", "token=", "y=2", "port=8000", "X=1"):
        assert (name in line) == (name in masked), name


@pytest.mark.parametrize(
    "line",
    [
        "max_tokens=128 num_speculative_tokens: 7 prompt_tokens=12",
        "api_key=None hf_token=null",
        "Avg generation throughput: 27.1 tokens/s, token 5 of 12",
        "tokenizer='org/model' skip_tokenizer_init=False bos_token: <s>",
        "INFO 11-30 20:21:22 [core.py:58] Initializing a V1 LLM engine (v0.32.0) with config: model='m'",
        "http://127.0.0.1:8000/v1/models?limit=5",
    ],
)
def test_ordinary_lines_stay_as_they_are(line: str) -> None:
    assert redacted(line.encode()) == line.encode()


@given(st.binary(max_size=300))
def test_any_bytes_keep_their_length(data: bytes) -> None:
    assert len(redacted(data)) == len(data)


def test_a_long_line_of_near_misses_takes_no_more_than_linear_work() -> None:
    """A rule that backtracks would not end."""
    for piece in (b"api_", b"a-", b"x://y:", b"token ", b"bearer "):
        assert redacted(piece * 50_000).count(b"*") <= 50_000 * len(piece)


def test_names_of_variables_that_hold_credentials() -> None:
    held = ("HF_TOKEN", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD")
    assert all(map(names_a_credential, held))
    assert not any(map(names_a_credential, ("PATH", "VLLM_CPU_KVCACHE_SPACE", "TOKENIZERS_PARALLELISM")))


def test_a_log_is_masked_over_its_pieces() -> None:
    mask = LogMask({"HF_TOKEN": "plain words", "PATH": "/usr/bin"})
    written = b"".join(
        (
            mask.feed(b"api_ke"),
            mask.feed(b"y=sk-FA"),
            mask.feed(b"KE-abc123\nin /usr/bin\r"),
            mask.feed(b"pla"),
        )
    )
    assert written == b"api_key=**************\nin /usr/bin\r"
    assert mask.feed(b"in words") == b""
    assert mask.flush() == b"***********"
    assert mask.flush() == b""
