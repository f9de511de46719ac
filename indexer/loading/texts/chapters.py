"""Chapters and the title of plain text, which has no marks for them. Open it to see which lines count as headings.

A heading is a short line of its own without the end of a sentence:
- underlined (`=====`),
- a word for a part of a book with a number ("Chapter IV", "Teil 2: …", "第三章"), or a name of such a part ("Preface"),
- a number and a title ("2.1 Results"), also a question, if at least two count up and text stands between them,
- capitals only, if there are at least two such lines and text stands below each.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from indexer.loading.texts.chapter_series import Candidate, give_levels, keep_in_order
from indexer.loading.texts.chapter_words import CJK_HEADING, ends_sentence, is_sentence, roman_value, word_level
from indexer.loading.texts.sections import Heading

__all__ = ["find_chapters", "find_title"]

_LONGEST = 100
_LONGEST_CAPITALS = 60
_MOST_CAPITALS = 8  # words
_MOST_NUMBERED = 12  # words
_FULL_LINE = 60
"""A line goes on in the next one if with the first word of that it is longer."""

_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_BLANK_LINE = re.compile(r"[^\S\r\n]*(?:\r\n|\r|\n|\Z)")
_UNDERLINE = re.compile(r"([=\-~^*_#+])\1{2,}")
_NUMBERED = re.compile(
    r"(?P<number>\d{1,3}(?:\.\d{1,3}){0,5})[.)]?\s+(?P<title>\S.*)|(?P<roman>[IVXL]{1,7})\.?(?:\s+(?P<named>\S.*))?"
)
_SUBSECTION = re.compile(r"\d{1,3}\.\d{1,3}(?!\d)")
_CODE = re.compile(r"[;|={}<>\\\t_]")
_LIST_MARK = re.compile(r"(?:[-*+•·◦|>#]+|\(?\d{1,3}[.)]|[a-z][.)])\s")


class _Line(NamedTuple):  # there are millions of them
    text: str
    start: int
    end: int


def find_title(text: str) -> str:
    """Returns the first line if it is a title: short, on its own, no sentence, with prose below it. Else ''."""
    lines = _non_blank(text)
    first, below = next(lines, None), next(lines, None)
    if first is None or below is None or not _may_be_heading(first.text) or _LIST_MARK.match(first.text):
        return ""
    underlined = _UNDERLINE.fullmatch(below.text) is not None
    alone = underlined or _BLANK_LINE.match(text, first.end) is not None
    if not alone or is_sentence(first.text) or word_level(first.text) is not None:
        return ""
    # Prose: one of the next lines is longer, or ends a sentence. A list of short lines has no title.
    following = [line.text for line, _ in zip(lines, range(20), strict=False)] + ([] if underlined else [below.text])
    prose = any(ends_sentence(line) or len(line) > max(60, len(first.text)) for line in following)
    return " ".join(first.text.split()) if underlined or prose else ""


def find_chapters(text: str, title: str) -> list[Heading]:
    """Returns the headings in order. The first line is none if it is the `title`."""
    found = _with_text_between(list(_candidates(text)))
    found = keep_in_order(found)
    capitals = [one for one in found if one.kind == "capitals" and one.heading.title != title]
    kept = [
        one
        for one in found
        if (one.kind != "capitals" or len(capitals) > 1)
        and not (one.heading.title == title and not text[: one.heading.start].strip())
    ]
    return give_levels(kept)


def _candidates(text: str) -> Iterator[Candidate]:
    skip = -1
    for before, line, after, second in _windows(text):
        if (
            line.start < skip
            or not _may_be_heading(line.text)
            or (before.text and not CJK_HEADING.fullmatch(line.text))
        ):
            continue  # Chinese books have no blank lines around headings
        candidate = _underlined(line, after) or _worded(line, after, second) or _numbered(line, after, second)
        candidate = candidate or _capitals(line, after)
        if candidate is not None:
            skip = candidate.heading.end
            yield candidate


def _windows(text: str) -> Iterator[tuple[_Line, _Line, _Line, _Line]]:
    """Yields each line with that before it and the two after it, without the white space around them."""
    blank = _Line("", 0, 0)
    window = [blank, blank, blank]
    for found in _LINE.finditer(text):
        shown = found[1] if len(found[1]) <= 4 * _LONGEST else "x" * (4 * _LONGEST)  # a long line is never looked at
        line = _Line(shown.strip(), found.start(), found.end())
        before, current, after = window
        if current.text:
            yield before, current, after, line
        window = [current, after, line]
    yield window[0], window[1], window[2], blank
    yield window[1], window[2], blank, blank


def _non_blank(text: str) -> Iterator[_Line]:
    for found in _LINE.finditer(text):
        if found[1][:1000].strip():
            yield _Line(found[1][: 4 * _LONGEST].strip(), found.start(), found.end())
        if found.end() == len(text):
            return


def _may_be_heading(line: str) -> bool:
    return 0 < len(line) <= _LONGEST and any(character.isalpha() for character in line)


def _underlined(line: _Line, after: _Line) -> Candidate | None:
    mark = _UNDERLINE.fullmatch(after.text)
    if mark is None or not 0.5 * len(line.text) <= len(after.text) <= 2 * len(line.text) + 2:
        return None
    return Candidate(Heading(0, _one_line(line.text), line.start, after.end), "underlined " + mark[1])


def _worded(line: _Line, after: _Line, second: _Line) -> Candidate | None:
    """A heading by its word. One without a title of its own takes the next line if that stands alone below it."""
    found = word_level(line.text)
    if found is None:
        return None
    level, needs_title = found
    heading = Heading(level, _one_line(line.text), line.start, line.end)
    if not after.text or CJK_HEADING.fullmatch(line.text):
        return Candidate(heading, f"word {level}", own_title=not needs_title)
    subtitle = needs_title and not second.text and _may_be_heading(after.text) and word_level(after.text) is None
    if subtitle and not is_sentence(after.text.rstrip(".!?")):
        title = f"{heading.title} {_one_line(after.text)}"
        return Candidate(replace(heading, title=title, end=after.end), f"word {level}")
    whole = line if needs_title else _with_next(line, after, second)
    if whole is not line and word_level(whole.text) == found:
        return Candidate(Heading(level, _one_line(whole.text), whole.start, whole.end), f"word {level}")
    return None


def _with_next(line: _Line, after: _Line, second: _Line) -> _Line:
    """Returns the line with the one below it if it goes on there, and nothing else does; else the line itself."""
    first_word = after.text.partition(" ")[0]
    is_whole = not after.text or second.text or len(after.text) > len(line.text)
    if is_whole or len(line.text) + 1 + len(first_word) <= _FULL_LINE or is_sentence(after.text.rstrip("?")):
        return line
    return _Line(f"{line.text} {after.text}", line.start, after.end)


def _numbered(line: _Line, after: _Line, second: _Line) -> Candidate | None:
    """A heading by its number: 2.1 Results. Only one of two numbers or more goes on in the next line."""
    is_subsection = _SUBSECTION.match(line.text) is not None
    whole = _with_next(line, after, second) if is_subsection else line
    if whole is not line:
        line, after = whole, second
    found = _NUMBERED.fullmatch(line.text)
    if found is None or after.text:
        return None
    title = found["title"] or found["named"] or ""
    plain = title.removesuffix(".")  # as in contracts: 2. Basic Permissions.
    if found["number"]:
        plain = plain.removesuffix("?")
    most = 2 * _MOST_NUMBERED if is_subsection else _MOST_NUMBERED
    if title and (plain[:1].islower() or not plain[:1].isalpha() or is_sentence(plain) or len(plain.split()) > most):
        return None
    if found["roman"]:
        value = roman_value(found["roman"])
        number: tuple[int, ...] = (value,) if value else ()
        kind = "roman"
    else:
        number = tuple(int(part) for part in found["number"].split("."))
        kind = "dotted number" if title.endswith(".") else "number"
    if not number:
        return None
    return Candidate(Heading(len(number), _one_line(line.text), line.start, line.end), kind, number)


def _capitals(line: _Line, after: _Line) -> Candidate | None:
    text = line.text
    alone = not after.text and len(text) <= _LONGEST_CAPITALS and len(text.split()) <= _MOST_CAPITALS
    if not alone or not text.isupper() or sum(map(str.isalpha, text)) < 4:
        return None
    if is_sentence(text) or _LIST_MARK.match(text) or _CODE.search(text):
        return None
    return Candidate(Heading(0, _one_line(text), line.start, line.end), "capitals")


def _with_text_between(found: Sequence[Candidate]) -> list[Candidate]:
    """Leaves out a heading that another of its kind follows at once: such lines are a list, or a table of contents.

    A line of capitals below a heading without a title is its title: CHAPTER I, and below it THE RIVER BANK.
    """
    joined: list[Candidate] = []
    for one in found:
        last = joined[-1] if joined else None
        if last and not last.own_title and one.kind == "capitals" and one.heading.start - last.heading.end <= 4:
            title = f"{last.heading.title} {one.heading.title}"
            joined[-1] = replace(last, heading=replace(last.heading, title=title, end=one.heading.end), own_title=True)
        else:
            joined.append(one)
    dense = {
        id(one)
        for one, following in pairwise(joined)
        if one.kind == following.kind
        and len(one.number) == len(following.number)
        and following.heading.start - one.heading.end <= 4
    }
    return [one for one in joined if id(one) not in dense]


def _one_line(text: str) -> str:
    return " ".join(text.split())
