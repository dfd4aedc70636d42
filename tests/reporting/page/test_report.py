"""The page as text: its policy, its links, what it says where a run lacks something, and its size."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import html
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from armgate.campaign.facts import run_facts
from armgate.reporting.facts import BootFacts, RunFacts
from armgate.reporting.page.report import report_page
from armgate.reporting.page.side_by_side import side_by_side_page
from armgate.reporting.run_folder import RunFolder


@pytest.fixture(scope="module")
def facts(mixed_run: RunFolder) -> RunFacts:
    return run_facts(mixed_run)


@pytest.fixture(scope="module")
def page(facts: RunFacts) -> str:
    return report_page(facts).decode()


def test_the_policy_allows_one_style_sheet_and_nothing_else(page: str) -> None:
    style = re.findall(r"<style>(.*?)</style>", page, re.S)
    assert len(style) == 1
    digest = base64.b64encode(hashlib.sha256(style[0].encode()).digest()).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    assert html.unescape(policy[1]) == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert "<script" not in page
    assert not re.search(r"<[^>]+\s(style|on\w+)=", page)


def test_every_id_is_unique_and_every_link_leads_somewhere(page: str, mixed_run: RunFolder) -> None:
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    for link in re.findall(r'href="([^"]+)"', page):
        file, _, anchor = html.unescape(link).partition("#")
        if not file:
            assert anchor in ids, link
        else:
            there = mixed_run.root / unquote(file)
            assert there.is_file(), link
            assert not anchor or f'id="{anchor}"' in there.read_text("utf-8"), link


def test_the_pages_of_replies_lead_back(mixed_run: RunFolder, page: str) -> None:
    for replies in mixed_run.root.glob("arms/*/boots/*/replies.html"):
        for link in re.findall(r'href="([^"]+)"', replies.read_text("utf-8")):
            file, _, anchor = unquote(html.unescape(link)).partition("#")
            assert (replies.parent / file).is_file(), link
            assert not anchor or f'id="{anchor}"' in page, link


def test_pins_stand_in_full(page: str, facts: RunFacts) -> None:
    assert facts.plan_file.digest in page
    assert str(facts.records["base"].identity.pins[0].asked["tree"]) in page


def test_a_section_without_data_says_so(page: str) -> None:
    assert "This run asked for no markers." in page
    assert "No arm of this run has counted drafts." in page


def test_an_interval_is_shown_or_said_to_be_missing(page: str) -> None:
    assert "insufficient evidence" in page
    assert "Each dot is one request" in page


def test_the_same_facts_give_the_same_bytes(facts: RunFacts, mixed_run: RunFolder) -> None:
    assert report_page(facts) == report_page(run_facts(mixed_run))
    assert report_page(facts) == (mixed_run.root / "report.html").read_bytes()


def multiplied(facts: RunFacts, count: int) -> RunFacts:
    """The same run with `count` arms, all of them as the one that was rejected."""
    names = [f"arm-{n:03d}" for n in range(count)]
    plan = facts.plan_file.plan.model_copy(
        update={"arms": dict.fromkeys(names, facts.plan_file.plan.arms["broken"])}
    )
    broken: BootFacts = facts.boots["broken", 0]
    return dataclasses.replace(
        facts,
        plan_file=facts.plan_file.model_copy(update={"plan": plan}),
        records={name: facts.records["broken"].model_copy(update={"arm": name}) for name in names},
        boots={(name, 0): broken for name in names},
        comparison=None,
    )


def test_a_hundred_arms_stay_under_five_megabytes(facts: RunFacts) -> None:
    data = report_page(multiplied(facts, 100))
    assert len(data) < 5_000_000
    assert data.count(b'<section class="boot ') == 100


def test_two_runs_side_by_side(facts: RunFacts, hostile_run: RunFolder) -> None:
    both = side_by_side_page(facts, run_facts(hostile_run)).decode()
    assert "base, yes: passed, against passed" in both
    assert "broken, yes: failed, against not in this run" in both
    assert "No test is made between them" in both
    assert "<script" not in both
    same = side_by_side_page(facts, facts).decode()
    assert "Nothing: version, inputs, pins and settings are the same." in same
    assert 'class="pair changed"' not in same


def test_templates_are_found_where_they_are_installed() -> None:
    from armgate.reporting.page.render import templates_folder

    assert templates_folder() == Path(__file__).resolve().parents[3] / "templates" / "report"
