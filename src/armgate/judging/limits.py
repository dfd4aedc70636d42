"""How much hostile text the parsing clauses take: beyond these an answer is judged too large, not parsed.

Well above any answer that an application could mean (131,072 tokens of code are about 400 kB), and low
enough that the worst input of each parser is judged in well under two seconds.
"""

MARKDOWN_CHARS = 512 * 1024
MARKDOWN_LINES = 10_000
INLINE_CHARS = 64 * 1024
"""Where emphasis, links and code inside paragraphs are read too."""

CSV_CHARS = 1024 * 1024
JSON_CHARS = 1024 * 1024
JSON_VALUES = 50_000
JSON_DEPTH = 100
PYTHON_CHARS = 512 * 1024
PYTHON_DEPTH = 150
"""Brackets open at once; CPython's own tokenizer stops at 200."""

INTEGER_DIGITS = 4000
"""CPython converts no longer text to an integer by default (sys.int_info)."""

BREACHES = 100
"""Breaches that one clause lists; one more then counts the rest and spans them."""
