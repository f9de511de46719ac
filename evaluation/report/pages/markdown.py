"""Parts of Markdown pages: tables, and text that no markup in it can change."""

import re
import textwrap
from collections.abc import Iterable, Sequence

__all__ = ["escape", "make_markdown_table"]

_MARKUP = re.compile(r"([\\`*_\[\]<>|#~])")
_LONGEST = 400


def escape(text: str, longest: int = _LONGEST) -> str:
    """Returns the text on one line, cut to its first characters, with its markup escaped."""
    return _MARKUP.sub(r"\\\1", textwrap.shorten(text, longest, placeholder=" …"))


def make_markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    """Returns a table; its first `texts` columns are text, the others numbers."""
    lines = [_line(headings), _line([*["---"] * texts, *["---:"] * (len(headings) - texts)])]
    return "\n".join([*lines, *map(_line, rows)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
