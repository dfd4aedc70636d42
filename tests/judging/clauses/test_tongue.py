from __future__ import annotations

import pytest

from support.judged import judged, kinds

KOREAN = "인공지능의 역사는 1950년 앨런 튜링(Turing)이 발표한 논문에서 시작됩니다."
PROSE = {
    "en": "The bridge is built of stone, and it stands on piers that were set in the river.",
    "de": "Die Brücke ist aus Stein gebaut und steht auf Pfeilern, die in den Fluss gesetzt wurden.",
    "fr": "Le pont est en pierre et il repose sur des piles qui ont été posées dans la rivière.",
    "es": "El puente es de piedra y se apoya en pilares que fueron puestos en el lecho del río.",
    "ko": KOREAN,
    "ja": "橋は石でできていて、川の中に立てられた柱の上にあります。",
    "zh": "这座桥是用石头建造的，立在河中的桥墩上。",
    "ru": "Мост построен из камня и стоит на опорах, поставленных в реке.",
}


@pytest.mark.parametrize("language", PROSE)
def test_each_language_is_told_from_the_others(language: str) -> None:
    passing = [code for code, text in PROSE.items() if not judged({"language": {"is": language}}, text)]
    assert passing == [language]


def test_a_language_needs_some_words() -> None:
    assert kinds({"language": {"is": "en"}}, "Yes, it is.") == ["too_short"]


def test_code_can_be_left_out() -> None:
    text = f"{KOREAN}\n\n```python\ndef merge_intervals(intervals):\n    return intervals\n```\n"
    assert kinds({"script": {"mostly": ["Hangul"], "min_share": 0.8}}, text) == ["share"]
    assert judged({"script": {"mostly": ["Hangul"], "min_share": 0.8, "ignore_code": True}}, text) == ()


def test_forbidden_scripts_are_shown_run_by_run() -> None:
    violations = judged({"script": {"forbid": ["Han"]}}, "인공지능의 歷史와 未來")
    assert [violation.span for violation in violations] == [(16, 22), (26, 32)]


def test_a_text_without_letters_has_no_script() -> None:
    assert kinds({"script": {"mostly": ["Latin"]}}, "1234 !!") == ["no_letters"]


def test_japanese_long_vowel_marks_belong_to_kana() -> None:
    assert judged({"script": {"mostly": ["Katakana"], "min_share": 1.0}}, "コーヒー") == ()
