"""The page in a real browser: it filters, leads from a skip to its cause, and runs nothing of a model's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from armgate.reporting.run_folder import RunFolder

if TYPE_CHECKING:
    from support.browser import Browser

VISIBLE = "return [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility()).length"
OWNED = "return [window.owned, document.title, location.href, document.querySelectorAll('script').length]"


@pytest.fixture
def page(browser: Browser, mixed_run: RunFolder) -> Browser:
    browser.size(1280)
    browser.media()
    browser.open(mixed_run.root / "report.html")
    return browser


def click(browser: Browser, selector: str) -> None:
    browser.driver.find_element("css selector", selector).click()


def target(browser: Browser) -> dict[str, Any]:
    """The place that a link led to: its text, and whether it is in view."""
    found: dict[str, Any] = browser.js(
        "const e = document.getElementById(location.hash.slice(1)), r = e.getBoundingClientRect();"
        "return {id: e.id, text: e.textContent,"
        " seen: e.checkVisibility() && r.bottom > 0 && r.top < innerHeight}"
    )
    return found


def test_the_page_asks_for_nothing_and_logs_nothing(page: Browser) -> None:
    page.requests()
    page.driver.get_log("browser")
    page.driver.refresh()
    assert {url.split("?")[0] for url in page.requests()} == {page.driver.current_url}
    assert page.driver.get_log("browser") == []


def test_an_outcome_is_one_click_from_its_violations(page: Browser) -> None:
    click(page, 'table.matrix a[href="#v.broken.00.yes"]')
    found = target(page)
    assert found["seen"]
    assert "expected 'yes', found 'yes indeed'" in found["text"]
    marked = page.driver.find_element("css selector", '[id="v.broken.00.yes"] mark').text
    assert marked.removesuffix("1") in "yes indeed"


def test_a_passed_outcome_opens_too(page: Browser) -> None:
    click(page, 'table.matrix a[href="#v.base.00.yes"]')
    assert target(page)["seen"]


def test_a_skip_leads_to_its_cause(page: Browser) -> None:
    click(page, 'table.matrix a[href="#v.broken.00.after-yes"]')
    click(page, '[id="v.broken.00.after-yes"] a.because')
    found = target(page)
    assert found["id"] == "v.broken.00.yes"
    assert found["seen"]


def test_a_skip_by_a_boot_leads_to_the_boot(page: Browser) -> None:
    click(page, 'table.matrix a[href="#v.sick.00.yes"]')
    click(page, '[id="v.sick.00.yes"] a.because')
    found = target(page)
    assert found["id"] == "boot.sick.00"
    assert found["seen"]
    assert "told to fail" in found["text"]


def test_filters_by_outcome_and_arm(page: Browser) -> None:
    everything = page.js(VISIBLE, "details.gate")
    passed = page.js(VISIBLE, "details.gate-passed")
    click(page, "#o-passed")
    assert page.js(VISIBLE, "details.gate") == everything - passed
    click(page, "label:has(input[name=arm]):last-of-type input")
    assert page.js(VISIBLE, "section.boot") == 1
    click(page, "form.filter button")
    assert page.js(VISIBLE, "details.gate") == everything


def test_a_link_shows_its_target_whatever_the_filter_hides(page: Browser) -> None:
    click(page, "#o-failed")
    click(page, 'table.matrix a[href="#v.broken.00.after-yes"]')
    click(page, '[id="v.broken.00.after-yes"] a.because')
    assert target(page)["seen"]


def test_it_works_by_keyboard(page: Browser) -> None:
    from selenium.webdriver.common.keys import Keys

    link = page.driver.find_element("css selector", 'table.matrix a[href="#v.broken.00.yes"]')
    link.send_keys(Keys.ENTER)
    assert target(page)["seen"]


def test_a_reply_is_whole_on_its_boots_page_and_leads_back(page: Browser) -> None:
    click(page, 'table.matrix a[href="#v.broken.00.yes"]')
    click(page, '[id="v.broken.00.yes"] .sample a')
    found = target(page)
    assert found["id"] == "r.yes.yes.0"
    assert "yes indeed" in found["text"]
    click(page, "h2 a")
    assert "/report.html#v.broken.00." in page.driver.current_url


@pytest.mark.parametrize(("width", "media"), [(360, "screen"), (1280, "screen"), (720, "print")])
def test_nothing_is_wider_than_the_window_or_the_paper(page: Browser, width: int, media: str) -> None:
    page.size(width)
    page.media(media=media)
    page.driver.refresh()
    assert page.js("return document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("which", ["report.html", "arms/broken/boots/00/replies.html"])
def test_axe_finds_no_violation(
    browser: Browser, axe: str, mixed_run: RunFolder, scheme: str, which: str
) -> None:
    browser.size(1280)
    browser.media(scheme)
    browser.open(mixed_run.root / which)
    browser.js("document.querySelectorAll('details').forEach(d => d.open = true)")
    browser.js(axe)
    found = browser.driver.execute_async_script(
        "axe.run().then(r => arguments[arguments.length - 1](r.violations), e => arguments[0](String(e)))"
    )
    told = [(v["id"], v["help"], [n["html"][:200] for n in v["nodes"][:3]]) for v in found]
    assert told == []


@pytest.mark.parametrize("which", ["report.html", "arms/evil/boots/00/replies.html"])
def test_hostile_replies_run_nothing(browser: Browser, hostile_run: RunFolder, which: str) -> None:
    page = hostile_run.root / which
    browser.media()
    browser.requests()
    browser.driver.get_log("browser")
    browser.open(page)
    browser.js("document.querySelectorAll('details').forEach(d => d.open = true)")
    owned, title, address, scripts = browser.js(OWNED)
    assert (owned, scripts) == (None, 0)
    assert "owned" not in title
    assert address == page.as_uri()
    assert {url for url in browser.requests() if "chrome" not in url} <= {page.as_uri(), "about:blank"}
    assert browser.driver.get_log("browser") == []
    active = "script, iframe, img, embed, base, [onerror], [onload], a[href^='javascript'], main style"
    assert browser.js("return document.querySelectorAll(arguments[0]).length", active) == 0
    assert browser.js("return document.querySelector('main').checkVisibility()")
    text = browser.js("return document.body.textContent")
    assert "<script>window.owned=1" in text
    assert "{{ 7*7 }}" in text
    assert "U+202E" in text
    assert "\u202e" not in text


def test_a_reply_of_ten_megabytes_is_cut_where_nothing_is_marked(hostile_run: RunFolder) -> None:
    for which in ("report.html", "arms/evil/boots/00/replies.html"):
        page = hostile_run.root / which
        assert page.stat().st_size < 1_000_000
        assert "bytes not shown here" in page.read_text("utf-8")


def test_screenshots_can_be_looked_at(page: Browser, tmp_path: Path) -> None:
    """Light, dark, phone and print; kept where ARMGATE_SCREENSHOTS says."""
    import os

    folder = Path(os.environ.get("ARMGATE_SCREENSHOTS", tmp_path))
    for name, width, scheme, media in [
        ("light", 1280, "light", "screen"), ("dark", 1280, "dark", "screen"),
        ("phone", 390, "light", "screen"), ("print", 800, "light", "print"),
    ]:  # fmt: skip
        page.size(width, 2000)
        page.media(scheme, media)
        page.screenshot(folder / f"{name}.png")
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
