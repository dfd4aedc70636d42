"""What is withheld of a run's own records, and what stays."""

import pytest

from armgate.reporting.withholding import Withholder, figures_only, published_counters

HIDE = Withholder(["spark-7f3a", "alice"])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/alice/models/glm-5", "(withheld)/glm-5"),
        ("--model=/data/m/x.gguf", "--model=(withheld)/x.gguf"),
        ("/a/b.so:/c/d/e.so", "(withheld)/b.so:(withheld)/e.so"),
        ("http://spark-7f3a.lan:8000/v1", "http://(withheld)/v1"),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("node 10.1.2.3 and fe80:0:0:0:1:2:3:4", "node (withheld) and (withheld)"),
        ("Spark-7F3A died", "(withheld) died"),
        ("alices own", "alices own"),
        ("/home/alice", "(withheld)/(withheld)"),
        ("version 0.32.0, 1/2 and/or", "version 0.32.0, 1/2 and/or"),
        (".armgate/engine/bin/python", ".armgate/engine/bin/python"),
    ],
)
def test_names_paths_and_addresses(text: str, shown: str) -> None:
    assert HIDE.text(text) == shown


def test_counters_that_verdicts_rest_on_are_kept() -> None:
    page = (
        "# HELP vllm:prompt_tokens_total Number\n# TYPE vllm:prompt_tokens_total counter\n"
        'vllm:prompt_tokens_total{engine="0"} 5.0\nvllm:ttft_seconds_bucket{le="1"} 2.0\n'
        "vllm:ttft_seconds_sum 3.0\nvllm:prompt_tokens_created 1.0\n"
        'vllm:cache_config_info{path="/a/b"} 1.0\npython_info{version="3"} 1.0\n'
        "process_start_time_seconds 12.0\n"
    )
    assert published_counters(page, HIDE).splitlines() == [
        "# TYPE vllm:prompt_tokens_total counter",
        'vllm:prompt_tokens_total{engine="0"} 5.0',
        "vllm:ttft_seconds_sum 3.0",
        "process_start_time_seconds 12.0",
    ]


def test_figures_stay_and_words_of_others_go() -> None:
    measured = {"n": 3, "unit": "s", "strangers": ["BLUE-1"], "divergence": {"arm_text": "once", "index": 4}}
    assert figures_only(measured) == {"n": 3, "unit": "s", "strangers": [], "divergence": {"index": 4}}
