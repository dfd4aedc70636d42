"""How much hostile text the parsing clauses take: beyond these an answer is judged too large, not parsed.

Well above any answer that an application could mean (a file of 250 kB is some 80,000 tokens of code), and low
enough that the worst input of each parser is judged in well under two seconds.
"""

MARKDOWN_CHARS = 512 * 1024
MARKDOWN_LINES = 10_000
INLINE_CHARS = 64 * 1024
INLINE_BRACKETS = 4_000
INLINE_PIPES = 10_000
"""Where emphasis, links, code and tables inside paragraphs are read too."""

PROSE_CHARS = 1024 * 1024
"""Where letters are counted by script or words by language."""

CSV_CHARS = 1024 * 1024
JSON_CHARS = 1024 * 1024
JSON_VALUES = 50_000
JSON_DEPTH = 100
PYTHON_CHARS = 256 * 1024
PYTHON_DEPTH = 150
"""Brackets open at once; CPython's own tokenizer stops at 200."""

INTEGER_DIGITS = 4000
"""CPython converts no longer text to an integer by default (sys.int_info)."""

MARKERS = 10_000
"""Markers, or characters that are not seen, that are looked at one by one where some of them may pass."""

BREACHES = 100
"""Breaches that one clause lists; one more then counts the rest and spans them."""
