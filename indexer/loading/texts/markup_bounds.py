"""Bounds of HTML, applied before it is parsed: how deep elements are nested, and how long a tag is.

A parser compares each tag with all elements that are open, and each attribute with all others of its tag, so that the
time of both grows with the square of what a page has.
"""

import re
from collections import Counter

__all__ = ["DEEPEST", "LONGEST_TAG", "bound_markup"]

DEEPEST = 512
"""Elements around a text. Browsers nest no deeper either."""

LONGEST_TAG = 65_536
"""Characters of a tag. A longer tag, such as an image within its tag, loses its attributes."""

_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(?P<raw>script|style)\b.*?(?:</(?P=raw)|\Z)"
    r"|<(?P<slash>/?)(?P<name>[a-z][^\s/>]{0,100})[^>]*+>?",
    re.IGNORECASE | re.DOTALL,
)
_NOT_NESTED = frozenset(
    (
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"),
        *("html", "head", "body", "p", "li", "dt", "dd", "option", "optgroup", "rb", "rt", "rtc", "rp"),
        *("a", "nobr", "button", "colgroup", "thead", "tbody", "tfoot", "tr", "td", "th"),
    )
)
"""Elements that have no content, or that end where the next such element begins."""


def bound_markup(markup: str) -> str:
    """Returns the markup without tags that nest deeper than `DEEPEST`, and without the attributes of tags longer than
    `LONGEST_TAG`. The text stays.
    """
    return _TAG.sub(_Bounds().check, markup)


class _Bounds:
    """Counts the elements that are open, by name: an end tag ends an element of its name."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        self._depth = 0

    def check(self, tag: re.Match[str]) -> str:
        """Returns the text that replaces a tag."""
        name = (tag["name"] or "").lower()
        if not name:
            return tag[0]
        kept = tag[0] if len(tag[0]) <= LONGEST_TAG else f"<{tag['slash']}{name}>"
        if name in _NOT_NESTED:
            return kept
        return kept if (self._end(name) if tag["slash"] else self._begin(name)) else " "

    def _begin(self, name: str) -> bool:
        """Returns whether the element is kept."""
        if self._depth >= DEEPEST:
            self._left_out[name] += 1
            return False
        self._open[name] += 1
        self._depth += 1
        return True

    def _end(self, name: str) -> bool:
        if self._left_out[name]:
            self._left_out[name] -= 1
            return False
        if self._open[name]:
            self._open[name] -= 1
            self._depth -= 1
        return True
