"""`locate`: finds where a text holds words that a model copied from it, exactly or loosely. Its time is linear."""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from core.documents import Span

__all__ = ["locate"]

_MARKS = "\"'“”„»«‘’"
_PAIRS = (("(", ")"), ("[", "]"), ("“", "”"), ("„", "“"), ("«", "»"), ("「", "」"), ('"', '"'))
_OMITTED = re.compile(r"…|\.{3,}|\[[^\[\]]*\]")
_TOKEN = re.compile(r"\w+")

_MIN_CHARACTERS = 3
"""Shorter words are found everywhere."""
_MAX_OMITTED = 400
"""If the parts of a quote stand further apart, only its longest part counts."""
_MIN_LOOSE_WORDS = 6
_ANCHOR = 2
_MIN_SHARED = 0.8
"""The share of a quote's words that a passage must hold between the quote's first and last words."""


def locate(words: str, text: str) -> Span | None:
    """Returns where `text` holds `words`, or None.

    Case, accents, spaces and punctuation may differ, also within words. An ellipsis or words in square brackets stand
    for words that are left out. Between the first two and the last two words of a longer quote, a few words may be
    missing or differ, but no number.
    """
    wanted = words.strip().strip(_MARKS).strip()
    if len(wanted) < _MIN_CHARACTERS:
        return None
    at = text.find(wanted)
    if at >= 0 and _is_at_word_ends(text, at, at + len(wanted)):
        return _include_pairs(Span(start=at, end=at + len(wanted)), text)
    letters = _Letters(text)
    span = letters.find(wanted)
    if span is None and at >= 0 and len(wanted.split()) > 1:  # several words, of which the first or last is cut off
        span = Span(start=at, end=at + len(wanted))
    span = span or _locate_parts(wanted, letters) or _locate_ends(wanted, text)
    return None if span is None else _include_pairs(span, text)


class _Letters:
    """The letters and digits of a text, without case and accents, and where each stands in the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        pairs = [(letter, place) for place, character in enumerate(text) for letter in _fold(character)]
        self._letters = "".join(letter for letter, _ in pairs)
        self._places = [place for _, place in pairs]

    def find(self, words: str, start: int = 0) -> Span | None:
        """Returns the first place at or after `start` where the text holds these letters as whole words."""
        wanted = "".join(letter for character in words for letter in _fold(character))
        at = self._letters.find(wanted, bisect_left(self._places, start)) if wanted else -1
        while at >= 0:
            span = Span(start=self._places[at], end=self._places[at + len(wanted) - 1] + 1)
            if _is_at_word_ends(self.text, span.start, span.end):
                return span
            at = self._letters.find(wanted, at + 1)
        return None


def _fold(character: str) -> str:
    if character.isascii():
        return character.lower() if character.isalnum() else ""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", character).casefold()))


def _locate_parts(words: str, letters: _Letters) -> Span | None:
    """Finds the parts between the words that a quote leaves out, in their order."""
    parts = [part.strip() for part in _OMITTED.split(words) if len(part.strip()) >= _MIN_CHARACTERS]
    if not parts or parts == [words]:
        return None
    spans: list[Span] = []
    for part in parts:
        found = letters.find(part, spans[-1].end if spans else 0)
        if found is None:
            return None
        spans.append(found)
    if all(following.start - one.end <= _MAX_OMITTED for one, following in pairwise(spans)):
        return Span(start=spans[0].start, end=spans[-1].end)
    return max(spans, key=lambda span: span.end - span.start)


def _locate_ends(words: str, text: str) -> Span | None:
    """Finds a quote by its first and its last words, if most of its words stand between them, and all its numbers."""
    wanted = [token.casefold() for token in _TOKEN.findall(words)]
    if len(wanted) < _MIN_LOOSE_WORDS:
        return None
    tokens = list(_TOKEN.finditer(text))
    folded = [token.group().casefold() for token in tokens]
    ends = list(_find_runs(wanted[-_ANCHOR:], folded))
    for start in _find_runs(wanted[:_ANCHOR], folded):
        following = bisect_left(ends, start + _ANCHOR)
        if following == len(ends):
            return None
        stop = ends[following] + _ANCHOR
        if stop - start <= 2 * len(wanted) + _ANCHOR and _holds_most(folded[start:stop], wanted):
            return Span(start=tokens[start].start(), end=tokens[stop - 1].end())
    return None


def _find_runs(run: list[str], tokens: list[str]) -> Iterator[int]:
    """Yields each place of a short run of tokens."""
    for start in range(len(tokens) - len(run) + 1):
        if tokens[start] == run[0] and tokens[start : start + len(run)] == run:
            yield start


def _holds_most(there: list[str], wanted: list[str]) -> bool:
    missing = Counter(wanted) - Counter(there)
    if any(character.isdigit() for word in missing for character in word):
        return False
    return missing.total() <= (1 - _MIN_SHARED) * len(wanted)


def _is_at_word_ends(text: str, start: int, end: int) -> bool:
    return not (_is_inside_word(text, start) or _is_inside_word(text, end))


def _is_inside_word(text: str, at: int) -> bool:
    """Whether a word goes on at this place; of a script without capitals, which may have no spaces, it is not known."""
    return 0 < at < len(text) and all(
        character.isdigit() or (character.isalpha() and character.lower() != character.upper())
        for character in text[at - 1 : at + 1]
    )


def _include_pairs(span: Span, text: str) -> Span:
    """Returns the span with a quotation mark or bracket beside it whose other half is inside."""
    start, end = span.start, span.end
    for opening, closing in _PAIRS:
        inside = text[start:end]
        opened, closed = inside.count(opening), inside.count(closing)
        lacks = opened % 2 == 1 if opening == closing else opened != closed
        if not lacks:
            continue
        if text[start - 1 : start] == opening and (opening == closing or closed > opened):
            start -= 1
        elif text[end : end + 1] == closing and (opening == closing or opened > closed):
            end += 1
    return Span(start=start, end=end)
