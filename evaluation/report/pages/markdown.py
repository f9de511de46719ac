"""Parts of Markdown pages: tables, and text that no markup in it can change."""

import re
from collections.abc import Iterable, Sequence

from core.text.shortening import shorten

__all__ = ["escape", "format_code", "make_markdown_table"]

_MARKUP = re.compile(r"([\\`*_\[\]<>|#~&$])")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that change the direction of writing and so what a line seems to say."""
_LONGEST = 400


def escape(text: str, longest: int = _LONGEST) -> str:
    """Returns the text on one line, cut to its first characters, with its markup escaped."""
    return _MARKUP.sub(r"\\\1", _CONTROL.sub("\ufffd", shorten(text, longest)))


def format_code(text: str) -> str:
    """Returns the text as code on one line. A backtick or a column of a table in it would end the code."""
    return f"`{_CONTROL.sub(chr(0xFFFD), ' '.join(text.split())).replace('`', chr(39)).replace('|', '¦')}`"


def make_markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    """Returns a table; its first `texts` columns are text, the others numbers."""
    lines = [_line(headings), _line([*["---"] * texts, *["---:"] * (len(headings) - texts)])]
    return "\n".join([*lines, *map(_line, rows)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
