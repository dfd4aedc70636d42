from __future__ import annotations

import base64
import json
from itertools import pairwise
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armgate.client.secrets import NO_SECRETS, Masker, Secrets
from armgate.model.exchange import Frame

KEY = "sk-FAKE/abc+123 é"
TOKEN = "hf_FAKEabcdefgh"
SECRETS = Secrets({"api_key": KEY, "hf_token": TOKEN})


@pytest.mark.parametrize(
    "form",
    [
        KEY,
        TOKEN,
        quote(KEY, safe=""),
        quote_plus(KEY),
        quote(KEY, safe="").lower().replace("sk-fake", "sk-FAKE"),
        json.dumps(KEY)[1:-1],
        json.dumps(KEY, ensure_ascii=False)[1:-1].replace("/", "\\/"),
    ],
)
def test_forms_are_masked_whole_and_the_rest_is_left(form: str) -> None:
    masked = SECRETS.masked_text(f"api_key='{form}', x=1")
    assert masked == f"api_key='{'*' * len(form.encode())}', x=1"


@pytest.mark.parametrize("before", ["", "a", "ab", "user:", "api-key:"])
@pytest.mark.parametrize("after", ["", "x", "xy", ":pass"])
def test_base64_of_a_text_with_a_secret_in_it_loses_the_secret(before: str, after: str) -> None:
    encoded = base64.b64encode(f"{before}{TOKEN}{after}".encode())
    masked = SECRETS.masked(b"Basic " + encoded)
    assert len(masked) == len(encoded) + 6
    assert b"*" * 16 in masked
    left = masked[6:].replace(b"*", b"A")
    assert TOKEN[2:-2].encode() not in base64.b64decode(left)


def test_short_values_and_placeholders_are_no_secrets() -> None:
    assert not Secrets({"api_key": "EMPTY", "other": "short"})
    assert Secrets({"api_key": "sixsix"}).masked(b"sixsix") == b"******"


def test_where_nothing_is_secret_reads_pass_through() -> None:
    masker = Masker(NO_SECRETS)
    assert masker.feed(0.5, b"sk-FAKE") == [Frame(0.5, b"sk-FAKE")]
    assert masker.finish() == []
    assert masker.masks == ()


def test_a_read_is_held_only_while_its_end_may_begin_a_secret() -> None:
    masker = Masker(SECRETS)
    assert masker.feed(0.1, b"hello!") == [Frame(0.1, b"hello!")]
    assert masker.feed(0.2, b"the hf_FA") == []
    assert masker.feed(0.3, b"KEabcdefg") == []
    assert masker.feed(0.4, b"h end!") == [
        Frame(0.2, b"the *****"),
        Frame(0.3, b"*" * 9),
        Frame(0.4, b"* end!"),
    ]
    assert [(mask.offset, mask.length, mask.kind) for mask in masker.masks] == [(10, 15, "hf_token")]


def test_a_beginning_that_leads_nowhere_is_given_back_as_it_was() -> None:
    masker = Masker(SECRETS)
    assert masker.feed(0.1, b"see hf_FAKE") == []
    assert masker.feed(0.2, b"news!") == [Frame(0.1, b"see hf_FAKE"), Frame(0.2, b"news!")]
    assert masker.feed(0.3, b"hf_") == []
    assert masker.finish() == [Frame(0.3, b"hf_")]
    assert masker.masks == ()


def test_overlapping_finds_are_one_mask() -> None:
    masker = Masker(Secrets({"a": "abcabcab", "b": "cabcabxyz"}))
    assert masker.feed(0.1, b"..abcabcabxyz..") == [Frame(0.1, b"..***********..")]
    assert [(mask.offset, mask.length) for mask in masker.masks] == [(2, 11)]


PIECES = st.lists(
    st.sampled_from(["aab", "aabaabaab", "b", "baab", "ab", "x", "aabaabaabb", "\n", "YWFiYWFiYWFi"]),
    max_size=25,
)
KEYS = st.lists(
    st.sampled_from(["aabaabaab", "baabaab", "abbaab", "aaaaaab"]), min_size=1, max_size=3, unique=True
)


@given(PIECES, KEYS, st.lists(st.integers(0, 150), max_size=25))
def test_no_secret_survives_any_split_and_every_length_is_kept(
    pieces: list[str], keys: list[str], cuts: list[int]
) -> None:
    body = "".join(pieces).encode()
    secrets = Secrets({f"k{n}": key for n, key in enumerate(keys)})
    bounds = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    reads = [(float(n), body[a:b]) for n, (a, b) in enumerate(pairwise(bounds))]
    masker = Masker(secrets)
    kept = [frame for at_s, data in reads for frame in masker.feed(at_s, data)] + masker.finish()
    assert [(frame.at_s, len(frame.data)) for frame in kept] == [(at_s, len(data)) for at_s, data in reads]
    text = b"".join(frame.data for frame in kept)
    assert not any(needle in text for needle in secrets.needles)
    assert text == secrets.masked(body)
    listed = {n for mask in masker.masks for n in range(mask.offset, mask.offset + mask.length)}
    assert listed == {n for n, byte in enumerate(text) if byte == ord("*")}
    assert all(text[n] == body[n] for n in range(len(body)) if n not in listed)
