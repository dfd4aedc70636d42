from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armgate.telemetry.metrics import parse_counters, series_key, unreachable

OLD = """\
# HELP vllm:generation_tokens_total Number of generation tokens processed.
# TYPE vllm:generation_tokens_total counter
vllm:generation_tokens_total{model_name="m",engine="0"} 5000.0
# TYPE vllm:generation_tokens_created gauge
vllm:generation_tokens_created{engine="0",model_name="m"} 1.75673679873e+09
process_start_time_seconds 1.7e+09
"""

OPENMETRICS = """\
# HELP vllm:generation_tokens Number of generation tokens processed.
# TYPE vllm:generation_tokens counter
vllm:generation_tokens_total{model_name="m",engine="0"} 5000.0 # {trace_id="a"} 1.0
vllm:generation_tokens_created{engine="0",model_name="m"} 1.75673679873e+09
# TYPE process_start_time_seconds gauge
process_start_time_seconds 1.7e+09
# EOF
"""


@pytest.mark.parametrize(
    "page", [OLD, OPENMETRICS, OLD + "# EOF\n"], ids=["old", "openmetrics", "old with EOF"]
)
def test_both_text_formats_give_the_same_series(page: str) -> None:
    counters = parse_counters(page, 12.5)
    assert counters.available
    assert counters.at_s == 12.5
    assert counters.series == {
        'vllm:generation_tokens_total{engine="0",model_name="m"}': 5000.0,
        "process_start_time_seconds": 1.7e9,
    }


def test_the_order_of_labels_makes_no_other_series() -> None:
    one = parse_counters('a_total{x="1",b="2"} 3\n', 0.0)
    other = parse_counters('a_total{b="2",x="1"} 3\n', 0.0)
    assert one.series == other.series == {'a_total{b="2",x="1"}': 3.0}


def test_label_values_are_escaped_so_that_keys_stay_apart() -> None:
    assert series_key("a", {"x": 'say "hi"\\\n'}) == 'a{x="say \\"hi\\"\\\\\\n"}'
    page = parse_counters('a{x="b\\"c"} 1\n', 0.0)
    assert page.series == {'a{x="b\\"c"}': 1.0}


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (
            501,
            '{"error":{"code":501,"message":"This server does not support metrics endpoint. '
            'Start it with `--metrics`","type":"not_supported_error"}}',
            "Start it with `--metrics`",
        ),
        (404, "404 page not found", "404 page not found"),
        (404, '{"detail":"Not Found"}', "Not Found"),
        (
            400,
            '{"error":{"code":400,"message":"model name is missing from the request"}}',
            "model name is missing",
        ),
    ],
)
def test_a_refused_page_is_unavailable_with_what_the_server_said(status: int, body: str, said: str) -> None:
    counters = parse_counters(body, 0.0, status)
    assert not counters.available
    assert counters.series == {}
    assert counters.reason is not None
    assert counters.reason.startswith(f"metrics_unavailable: HTTP {status}")
    assert said in counters.reason
    assert "--enable-metrics" in counters.reason


@pytest.mark.parametrize("body", ["", "\n  \n", "# HELP a b\n# TYPE a counter\n"])
def test_an_empty_page_under_200_is_unavailable_and_not_zero(body: str) -> None:
    counters = parse_counters(body, 0.0)
    assert not counters.available
    assert counters.reason is not None
    assert counters.reason.startswith("metrics_empty")


@pytest.mark.parametrize(
    "body", ["<html><body>hi</body></html>", '{"detail":"Not Found"}', 'a{x="1"} 2\nbad{x=1 2\n']
)
def test_a_page_that_cannot_be_read_whole_gives_nothing(body: str) -> None:
    counters = parse_counters(body, 0.0)
    assert not counters.available
    assert counters.series == {}
    assert counters.reason is not None
    assert counters.reason.startswith("metrics_unreadable")
    assert "the page begins: " in counters.reason


def test_values_that_are_no_finite_numbers_are_left_out() -> None:
    assert parse_counters("a NaN\nb +Inf\nc 1\n", 0.0).series == {"c": 1.0}


def test_a_series_given_twice_with_different_values_is_left_out_and_named() -> None:
    counters = parse_counters('a{x="1"} 2\na{x="1"} 3\nb 1\nb 1\n', 0.0)
    assert counters.series == {"b": 1.0}
    assert counters.reason is not None
    assert 'a{x="1"}' in counters.reason


def test_no_answer_at_all_is_unavailable() -> None:
    counters = unreachable(3.0, "connection refused")
    assert (counters.available, counters.at_s) == (False, 3.0)
    assert counters.reason == "metrics_unavailable: connection refused"


@given(st.text(max_size=200), st.sampled_from([200, 404, 500]))
def test_no_text_ever_raises_and_unavailable_always_says_why(text: str, status: int) -> None:
    counters = parse_counters(text, 0.0, status)
    assert counters.available or counters.reason
    assert counters.available == bool(counters.series)


@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,8}", fullmatch=True), st.text(max_size=20), min_size=1, max_size=4
    )
)
def test_any_label_values_survive_the_page(labels: dict[str, str]) -> None:
    key = series_key("name_total", labels)
    assert parse_counters(f"{key} 7\n", 0.0).series == {key: 7.0}
