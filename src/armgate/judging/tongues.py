"""What tells languages apart: their scripts, and the commonest function words of those in Latin script."""

from __future__ import annotations

SCRIPTS_OF: dict[str, tuple[str, ...]] = {
    "en": ("Latin",), "de": ("Latin",), "fr": ("Latin",), "es": ("Latin",), "it": ("Latin",),
    "pt": ("Latin",), "nl": ("Latin",), "ko": ("Hangul",), "ja": ("Han", "Hiragana", "Katakana"),
    "zh": ("Han", "Bopomofo"), "ru": ("Cyrillic",), "ar": ("Arabic",), "hi": ("Devanagari",),
    "th": ("Thai",), "el": ("Greek",),
}  # fmt: skip

FUNCTION_WORDS: dict[str, frozenset[str]] = {
    code: frozenset(words.split())
    for code, words in {
        "en": "the of and to in is that it for was on are as with be by this from at or an which have"
        " not you they their were has can its will into than these",
        "de": "der die das und ist in zu den von mit sich des auf für nicht ein eine als auch es an werden"
        " aus er hat dass sie nach wird bei einer um am sind noch wie einem",
        "fr": "le la les de des et est un une du en que qui dans pour par sur pas plus au avec ce il sont ne"
        " se aux cette ou nous vous leur ses mais été",
        "es": "el la los las de que y en un una es por con para se no al del lo como más su pero son o este"
        " esta sus fue entre cuando muy sin sobre",
        "it": "il lo gli di che e è un una in per con del della non si da al come più dei sono le nel anche"
        " alla questo ma ha delle degli",
        "pt": "o os as de que e em um uma é para com não por do da no na se mais dos como ao das mas foi são"
        " à sua pelo pela ou seu",
        "nl": "de het een en van is in dat op te zijn met voor niet aan er om ook als bij door maar uit naar"
        " wordt deze over dan nog worden",
    }.items()
}
"""The commonest function words; counted, not weighted: good for some sentences, not for a phrase."""

LANGUAGES_OF: dict[str, tuple[str, ...]] = {
    word: tuple(code for code, words in FUNCTION_WORDS.items() if word in words)
    for word in frozenset().union(*FUNCTION_WORDS.values())
}
"""The languages that a word is a common one of."""
