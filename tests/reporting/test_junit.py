"""junit.xml: no void turns green, no skip turns green or red, and any text is valid XML."""

from xml.etree import ElementTree as ET

from armgate.reporting.facts import RunFacts
from armgate.reporting.junit import junit_bytes


def cases(facts: RunFacts) -> dict[tuple[str, str], ET.Element]:
    root = ET.fromstring(junit_bytes(facts))
    return {(str(c.get("classname")), str(c.get("name"))): c for c in root.iter("testcase")}


def test_outcomes_map_to_their_elements(mixed_facts: RunFacts) -> None:
    found = cases(mixed_facts)
    tags = {key: [child.tag for child in case] for key, case in found.items()}
    assert tags["base/00", "yes"] == []
    assert tags["broken/00", "yes"] == ["failure"]
    assert tags["cut/00", "yes"] == ["error"]
    assert tags["broken/00 (advisory)", "after-yes"] == ["skipped"]
    assert "because of yes" in str(found["broken/00 (advisory)", "after-yes"][0].get("message"))
    assert "at bytes" in str(found["broken/00", "yes"][0].text)


def test_the_totals_add_up(mixed_facts: RunFacts) -> None:
    root = ET.fromstring(junit_bytes(mixed_facts))
    for name in ("tests", "failures", "errors", "skipped"):
        assert int(str(root.get(name))) == sum(int(str(suite.get(name))) for suite in root)
    assert int(str(root.get("tests"))) == len(list(mixed_facts.verdicts()))


def test_hostile_text_is_valid_xml(hostile_facts: RunFacts) -> None:
    said = ET.tostring(cases(hostile_facts)["evil/00", "evil"], encoding="unicode")
    assert "&lt;script&gt;" in said
    assert "\x1b" not in said
