"""Sentences of a text, in any script, as ranges of code points: for chunks, and for quotes.

A single pass finds the places where a sentence may end: marks, line ends and empty lines. `ends.py` decides
about marks. Time is proportional to the length of the text, whatever is in it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.execution.limits import check_work
from core.text.sentences.ends import ends_sentence, is_fragment, is_item_number

Range = tuple[int, int]

_LONGEST = 2000
"""The characters of the longest sentence. A longer sentence is cut between lines, or words."""

_CHECK_EACH = 2000
"""Characters after which the limit of work is checked."""

_MARKS = ".!?…‼⁇⁈⁉"
_WIDE = "。！？｡．։؟؞۔܀-܂।॥၊။።፧፨᠃᠉។៕᱾᱿꓿"
"""Marks that end a sentence without white space after them."""
_CLOSE = "\"'”’»)\\]}›*_`"
_PLACE = re.compile(
    # It begins with a set, which is searched for quickly. A run of marks is read once, from its beginning.
    rf"[{_MARKS}{_WIDE}\n](?:"
    # An empty line, or a line end. Most lines of wrapped text begin with a small letter, and go on.
    r"(?<=(\n))(?!(?<!:\n)[a-z](?![.)])[^\n:]{0,300}+\n)\s*+"
    rf"|(?<=([{_WIDE}]))[{_WIDE}]*+[」』”’）)】\"']*+"
    rf"|(?<![{_MARKS}][{_MARKS}])(?<=[{_MARKS}])[{_MARKS}]*+[{_CLOSE}]*+(?:[ \u00a0\u202f]»)?"
    r"(?=\s|\Z|[\u3040-\u9fff\uac00-\ud7af])"
    r")"
)
_LINE_END, _WIDE_MARK = 1, 2
_SPACE = re.compile(r"\s*+")
_ITEM = re.compile(r"(?:[-*+•|]|\(?\d{1,3}[.)]|\(?[a-z]\))\s|\d{1,2}(?:\.\d{1,2}){1,4}\.?[ \t]+[A-ZÄÖÜÉÈÀÁÍÓÚ]")
_LETTER_ITEM = re.compile(r"[a-z]\.\s")
_CLOSED_NUMBER = re.compile(r"\d{1,3}\)\s*+")
_LINE = re.compile(r"[^\n]+")
_ENTRY = re.compile(
    r"(?:<\d{1,3}>)?(?:"
    r"[\[(]?\d{4}[-/.]\d\d[-/.]\d\d[T ]\d\d:\d\d"  # 2025-03-10T00:00, [2025/03/10 00:00
    r"|[\[(]?\d\d[-/.]\d\d[-/.]\d{2,4},? \d\d:\d\d"  # 10.03.2025 00:00
    r"|(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d"  # Mar 10 00:00:00
    r"|[\[(]?\d\d:\d\d:\d\d[.,\])\s]"
    r"|\[ {0,8}\d{1,8}\.\d{3,9}\]"  # seconds since the start of a machine
    r"|[DIWEF]\d{4} \d\d:\d\d:\d\d"
    r"|\S{1,60}+ \S{1,60}+ \S{1,60}+ \[\d\d/[A-Z][a-z]{2}/\d{4}:"  # of a web server
    r'|\{"\w)'
)
"""The beginning of an entry of a log: a time. An entry is quoted alone, with the lines that belong to it."""
_BLANK_LINE = re.compile(r"\n[^\S\n]*+\n")

_LONGEST_BRACKET = 200
_LONGEST_PARAGRAPH = 5000
"""Characters of a paragraph whose lines tell how wide it is."""
_LEAST_WIDTH = 40
_SHORT_LINE = 0.6
"""The share of the width of a paragraph within which a line was ended on purpose, as a heading or a greeting is."""
_WIDEST = 120
"""A paragraph with longer lines is not wrapped, so that each of its line ends was made on purpose."""
_LONGEST_LABEL = 40


def split_sentences(text: str) -> list[Range]:
    """Returns the ranges of the sentences of `text` as they are quoted, in order, each with the white space after it.

    They are the ranges of `segment`, but a sentence of a few letters, such as "I do.", is joined to the next sentence
    on its line, because it tells a reader nothing.
    """
    joined: list[Range] = []
    for start, end in iter_segments(text):
        if joined and _is_short(joined[-1]) and text[joined[-1][1] - 1] != "\n" and is_fragment(text, *joined[-1]):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def segment(text: str) -> list[Range]:
    """Returns the ranges of the sentences of `text`, each with the white space after it; blank sentences are left out.

    A sentence ends at an empty line, before an item of a list, at a line that ends early, and at a mark that ends no
    abbreviation. What is no sentence of its own, such as an item's number or a footnote's mark, is part of its
    neighbour. A change of what it returns changes the chunks of documents, and so the fingerprints of the chunkers.
    """
    return list(iter_segments(text))


def iter_segments(text: str) -> Iterator[Range]:
    """Yields what `segment` returns. Of a long text, few ranges are in memory at a time."""
    last: Range | None = None
    for start, end in _iter_pieces(text):
        if last is None:
            last = (start, end)
        elif _is_mark(text, last, (start, end)):
            last = (last[0], end)
        else:
            yield last
            last = (start, end)
    if last is not None:
        yield last


def _iter_pieces(text: str) -> Iterator[Range]:
    """Yields the pieces between the places where a sentence ends, none of them longer than the longest sentence."""
    shape = _Lines(text)
    start = checked = 0
    for place in _PLACE.finditer(text):
        at, after = place.span()
        if at < start:
            continue
        if after - checked > _CHECK_EACH:
            check_work()
            checked = after
        if after - start > _LONGEST:
            *parts, (start, _) = _cut(text, start, at)
            yield from parts
        cut = _find_end(text, start, place, shape)
        if cut:
            if not text[start:cut].isspace():
                yield start, cut
            start = cut
    if text[start:].strip():
        yield from _cut(text, start, len(text))


def _find_end(text: str, start: int, place: re.Match[str], shape: "_Lines") -> int:
    """Returns the beginning of the next sentence if this one ends at a place, else 0."""
    if place.lastindex == _LINE_END:
        return _find_line_end(text, start, place, shape)
    at, after = place.span()
    following = _SPACE.match(text, after).end()  # type: ignore[union-attr]
    if place.lastindex == _WIDE_MARK:
        return following
    lines = text.count("\n", after, following)
    if lines > 1:
        return following
    if not ends_sentence(text, start, at, after, following) or (not lines and _is_short_word(text, start, after)):
        return 0
    return following


def _is_short_word(text: str, start: int, end: int) -> bool:
    """Whether a piece is one short word, such as "Shri." before a name."""
    return is_fragment(text, start, end) and len(text[start:end].split(None, 2)) < 2


def _find_line_end(text: str, start: int, place: re.Match[str], shape: "_Lines") -> int:
    at, following = place.span()
    if place[0].count("\n") > 1 or following == len(text):
        return following
    if _ENTRY.match(text, following):
        return following
    if _ITEM.match(text, following):
        closed = _CLOSED_NUMBER.match(text, following)
        if closed is None or not _is_bracket_open(text, start, at):
            return following
        return closed.end() if text[closed.end() : closed.end() + 1].isupper() else 0
    before = text[at - 1 : at]
    if (before == ";" and text[following].isdigit()) or (before in ".;:," and _LETTER_ITEM.match(text, following)):
        return following
    return following if shape.ends_early(at, following) and not is_item_number(text, start, at) else 0


def _is_bracket_open(text: str, start: int, at: int) -> bool:
    first = max(start, at - _LONGEST_BRACKET)
    return text.rfind("(", first, at) > text.rfind(")", first, at)


@dataclass(slots=True)
class _Lines:
    """The width of the paragraph that is read, by which a line that ends early is told from a wrapped line."""

    text: str
    width: int = 0
    end: int = 0

    def ends_early(self, at: int, following: int) -> bool:
        """Whether the line that ends at `at` stands alone: a label, or a line much shorter than others."""
        text = self.text
        begin = text.rfind("\n", max(0, at - _LONGEST), at) + 1
        if self._is_label(begin, at) or self._is_label(
            following, text.find("\n", following, following + _LONGEST_LABEL)
        ):
            return True
        first = text[following]
        if (not first.isupper() and first not in '"“„«#') or text[at - 1] in ",-–(":
            return False
        if at >= self.end:
            self._measure(begin)
        short = self.width if self.width > _WIDEST else _SHORT_LINE * self.width
        return self.width >= _LEAST_WIDTH and at - begin <= short

    def _is_label(self, begin: int, end: int) -> bool:
        return self.text[end - 1] == ":" and 1 < end - begin <= _LONGEST_LABEL and self.text[begin].isalpha()

    def _measure(self, begin: int) -> None:
        blank = _BLANK_LINE.search(self.text, begin, begin + _LONGEST_PARAGRAPH)
        end = blank.start() if blank else min(begin + _LONGEST_PARAGRAPH, len(self.text))
        self.width = max((line.end() - line.start() for line in _LINE.finditer(self.text, begin, end)), default=0)
        self.end = end


def _is_mark(text: str, last: Range, piece: Range) -> bool:
    """Whether a piece is a mark that belongs to the sentence before it on the line, such as [n 10] or :252."""
    start, end = piece
    if not _is_short(piece) or start - last[0] > _LONGEST // 2 or last[1] != start or text[start - 1] == "\n":
        return False
    return is_fragment(text, start, end) and not text[start].isalnum()


def _is_short(piece: Range) -> bool:
    return piece[1] - piece[0] <= _LONGEST_LABEL


def _cut(text: str, start: int, end: int) -> list[Range]:
    """Cuts a range into parts that are no longer than the longest sentence: between lines where there are any, so that
    rows of tables stay whole, else between words.
    """
    parts: list[Range] = []
    while end - start > _LONGEST:
        within = start + _LONGEST // 2, start + _LONGEST
        space = max(text.rfind("\n", *within), 0) or text.rfind(" ", *within)
        cut = space + 1 if space > 0 else start + _LONGEST
        parts.append((start, cut))
        start = cut
    return [*parts, (start, end)]
