from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armgate.errors import DeclarationError
from armgate.model.exchange import COMPLETIONS, Fate, Frame
from armgate.model.exchange_form import parse_exchange

FILE = Path("x.json")
GOOD = """{
  "request": {"model": "m", "max_tokens": 5},
  "response": {
    "status": 200,
    "headers": {"Content-Type": "text/event-stream"},
    "frames": [
      [0.1, "data: a\\n\\n"],
      [0.25, {"b64": "/w=="}]
    ]
  },
  "fate": "complete"
}
"""


def problems(text: str | bytes) -> list[tuple[int | None, str, str]]:
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(DeclarationError) as caught:
        parse_exchange(data, FILE)
    return [(p.line, p.where, p.message + (f" ({p.hint})" if p.hint else "")) for p in caught.value.problems]


def document(**response: Any) -> bytes:
    fields = {"status": 200, "headers": {}, **response}
    return json.dumps({"request": {}, "response": fields, "fate": "complete"}).encode()


def test_frames_keep_their_bytes_and_times() -> None:
    exchange = parse_exchange(GOOD.encode(), FILE)
    assert exchange.frames == (Frame(0.1, b"data: a\n\n"), Frame(0.25, b"\xff"))
    assert (exchange.status, exchange.fate, exchange.timed) == (200, Fate.COMPLETE, True)
    assert exchange.headers == {"content-type": "text/event-stream"}
    assert exchange.cap_tokens == 5


def test_a_body_is_one_untimed_frame() -> None:
    exchange = parse_exchange(document(body="정답"), FILE)
    assert (exchange.body, exchange.timed) == ("정답".encode(), False)


@pytest.mark.parametrize("response", [None, {"status": 200, "headers": {}, "body": None}])
def test_there_may_be_no_body(response: Any) -> None:
    data = json.dumps({"request": {}, "response": response, "fate": "timeout"}).encode()
    assert parse_exchange(data, FILE).body == b""


def test_the_endpoint_is_told_by_the_request_unless_named() -> None:
    plain = {"request": {"prompt": "x"}, "response": None, "fate": "refused"}
    assert parse_exchange(json.dumps(plain).encode()).endpoint == COMPLETIONS
    assert parse_exchange(json.dumps({**plain, "endpoint": "/v2"}).encode()).endpoint == "/v2"


@pytest.mark.parametrize(
    ("old", "new", "line", "where", "says"),
    [
        ('"fate": "complete"', '"fate": "completed"', 11, "fate", "complete, dropped, timeout, refused, cut"),
        ('"fate": "complete"', '"fate": "completed"', 11, "fate", "did you mean complete?"),
        ('"status": 200', '"status": "200"', 4, "response.status", 'found "200"'),
        ('"status": 200,', "", 3, "response", "the key status is missing"),
        ('"headers"', '"header"', 5, "response.header", "did you mean headers?"),
        ('"text/event-stream"', "7", 5, "response.headers.Content-Type", "expected text, found a number"),
        ("[0.25,", "[0.05,", 8, "response.frames.1.0", "the read before, 0.1"),
        ("[0.1,", "[-1,", 7, "response.frames.0.0", "hand-over"),
        ("[0.1,", "[true,", 7, "response.frames.0.0", "expected seconds"),
        ('"/w=="', '"/w="', 8, "response.frames.1.1", "not base64"),
        ('[0.1, "data: a\\n\\n"]', '["data"]', 7, "response.frames.0", "expected [seconds, text]"),
        ('"data: a\\n\\n"', '"\\ud83d"', 7, "response.frames.0.1", "half of a surrogate pair"),
        ('"frames"', '"body": "x", "frames"', 6, "response.frames", "found both"),
        ('{"model": "m", "max_tokens": 5}', "[]", 2, "request", "expected an object, found a list"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(old: str, new: str, line: int, where: str, says: str) -> None:
    assert old in GOOD
    found = problems(GOOD.replace(old, new))
    assert any((ln, wh) == (line, where) and says in message for ln, wh, message in found), found


def test_a_body_written_as_json_is_explained() -> None:
    assert "one string" in problems(document(body={"choices": []}))[0][2]


def test_every_problem_is_told_at_once() -> None:
    assert len(problems(GOOD.replace("200", "2").replace('"complete"', "1").replace("[0.1,", "[null,"))) == 3


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "ends too early"),
        (GOOD[:150], "not JSON"),
        ("[]", "expected an object"),
        ("{}", "the key fate is missing"),
        (GOOD.replace("0.1", "NaN"), "NaN"),
        (GOOD.replace('"max_tokens"', '"model"'), "'model' is there twice"),
        ("[" * 100_000, "not JSON"),
        (b"\xff" + GOOD.encode(), "not UTF-8"),
    ],
)
def test_what_is_no_document(text: str | bytes, says: str) -> None:
    assert any(says in message for _, _, message in problems(text))


@given(st.integers(0, len(GOOD.encode()) - 3))
def test_a_truncated_document_is_refused(length: int) -> None:
    assert problems(GOOD.encode()[:length])


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["request", "response", "fate", "status", "headers", "body", "frames", "b64", "error"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_any_json_is_an_exchange_or_a_declaration_error(value: Any) -> None:
    try:
        lines = [parse_exchange(json.dumps(value).encode(), FILE).fate]
    except DeclarationError as error:
        lines = [problem.line for problem in error.problems]
    assert all(lines)
