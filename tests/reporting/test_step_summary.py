"""The Markdown summary of a run: a row an arm, first reason in words, nothing active."""

from markdown_it import MarkdownIt

from armgate.reporting.facts import RunFacts
from armgate.reporting.step_summary import step_summary


def test_each_arm_has_a_row_with_its_verdict(mixed_facts: RunFacts) -> None:
    html = MarkdownIt("gfm-like", {"linkify": False}).render(step_summary(mixed_facts))
    assert html.count("<tr>") == len(mixed_facts.records) + 1
    assert "<strong>rejected</strong>" in html
    assert "expected 'yes'" in html.replace("&#39;", "'")


def test_hostile_reasons_stay_text(hostile_facts: RunFacts) -> None:
    html = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(step_summary(hostile_facts))
    assert "<script" not in html
    assert "<img" not in html
    assert "<a " not in html
