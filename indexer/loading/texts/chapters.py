"""Chapters and the title of plain text, which has no marks for them. Open it to see which lines count as headings.

A heading is a short line of its own without the end of a sentence:
- underlined (`=====`),
- a word for a part of a book with a number ("Chapter IV", "Teil 2: …", "第三章"), or a name of such a part ("Preface"),
- a number and a title ("2.1 Results"), also a question, if at least two count up and text stands between them,
- capitals only, if there are at least two such lines and text stands below each,
- further left than the prose, if that is indented.

In a text with a paragraph a line, as contracts come from converters, every line counts as a line of its own.

Headings without a number and an underline are the least certain: their sections end after a tenth of the text.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from core.text.titles import one_line
from indexer.loading.properties import is_number_of_exhibit, read_title
from indexer.loading.texts.chapter_series import Candidate, give_levels, keep_in_order
from indexer.loading.texts.chapter_words import (
    CJK_BEGINNINGS,
    CJK_HEADING,
    ends_sentence,
    is_name,
    is_sentence,
    roman_value,
    word_level,
)
from indexer.loading.texts.layout import find_body_indent, find_centred_title, is_unwrapped
from indexer.loading.texts.sections import Heading

_LONGEST = 100
_LONGEST_CAPITALS = 60
_MOST_CAPITALS = 8  # words
_MOST_NUMBERED = 12  # words
_FEWEST = {"capitals": 2, "outside": 3}
_MOST_REACH = 0.1
_LEAST_REACH = 8_000
"""The section of a heading without a number ends after this share of the text, if that is more characters than this."""
_FULL_LINE = 60
"""A line goes on in the next line if, with the first word of the next line, it would be longer than this."""

_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_BLANK_LINE = re.compile(r"[^\S\r\n]*(?:\r\n|\r|\n|\Z)")
_UNDERLINE = re.compile(r"([=\-~^*_#+])\1{2,}")
_NUMBERED = re.compile(
    r"(?P<number>\d{1,3}(?:\.\d{1,3}){0,5})[.):]?\s+(?P<title>\S.*)"
    r"|(?P<letter>[A-Z](?:\.\d{1,3}){1,5})[.:]?\s+(?P<lettered>\S.*)"
    r"|(?P<roman>[IVXL]{1,7})\.?(?:\s+(?P<named>\S.*))?"
)
_SUBSECTION = re.compile(r"\d{1,3}\.\d{1,3}(?!\d)")
_CODE = re.compile(r"[;|={}<>\\\t_]")
_CAPITALS = re.compile(r"[^\W_]++(?:['’&/.\-][^\W_]++)*+[,:.)]?|[&/–—-]|[(\[][^\W_]++")
_SECTION = re.compile(r"([^\W\d_]{3,20})\s{1,3}(\d{1,3}(?:\.\d{1,3}){1,5})(?![\d.]*[^\W_])")
_SECTION_LINE = re.compile(
    r"(?:(?<=\n)|\A)\s{0,12}([^\W\d_]{3,20})[ \t\u00a0]{1,3}(\d{1,3}(?:\.\d{1,3}){1,5})[.:]?\s{1,12}[^\W\d_]"
)
_SIGNED = re.compile(r"/s/|By\b|_{3}")
_END = re.compile(r"(?:THE )?END\b|FINIS\b|PAGE\b")
_COLUMNS = re.compile(r"\S(?: {3,}|\t)\S")
_CHANGES = re.compile(
    r"[\w.+-]{1,50} \([\w.:+~-]{1,50}\) [\w -]{1,50}; urgency=\w{1,20}"  # a changelog of Debian
    r"|\d{4}-\d\d-\d\d\s{1,4}\S.{0,80}"  # one of GNU
)
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n")
_OPENING = "\"'“„«¿¡("
_LIST_MARK = re.compile(r"(?:[-*+•·◦|>#]+|\(?\d{1,3}[.)]|[a-z][.)])\s")


class _Line(NamedTuple):  # there are millions of them
    text: str
    start: int
    end: int
    indent: int = 0


_NO_LINE = _Line("", 0, 0)


def find_title(text: str) -> str:
    """Returns the first line if it is a title: short, on its own, no sentence, with prose below it.

    Otherwise a line in the middle of the first page, before any prose, else ''. The number of an exhibit is no line.
    """
    first = next(_non_blank(text), _NO_LINE)
    text = text[first.end :] if is_number_of_exhibit(first.text) else text
    return _first_line_title(text) or find_centred_title(text[: _LONGEST * _LONGEST].splitlines())


def _first_line_title(text: str) -> str:
    lines = _non_blank(text)
    first, below = next(lines, None), next(lines, None)
    if first is None or below is None or not _may_be_heading(first.text) or _LIST_MARK.match(first.text):
        return ""
    if not read_title(first.text):
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
    """Returns the headings in order. The first line is no heading if it is the `title`."""
    body = find_body_indent(text.splitlines())
    candidates = _with_text_between(list(_candidates(text, body)))
    found = keep_in_order(candidates)
    counts = Counter(one.kind for one in found if one.heading.title != title)
    opening = [one for one in found if one.heading.title == title and not text[: one.heading.start].strip()]
    kept = [one for one in found if one not in opening and counts[one.kind] >= _FEWEST.get(one.kind, 1)]
    headings = give_levels(kept, [one.kind for one in opening if any(one.kind == other.kind for other in kept)])
    uncertain = {one.heading.start for one in kept if one.kind in _FEWEST or is_name(one.heading.title)}
    return list(_within_reach(text, headings, uncertain, _find_lost(candidates, kept)))


def _find_lost(candidates: Sequence[Candidate], kept: Sequence[Candidate]) -> dict[int, int]:
    """Returns, by the start of a numbered heading, the start of the first later line with a larger number of its kind
    that is no heading: after a number that was not seen, the others do not count up.
    """
    lost: dict[int, int] = {}
    is_kept = {one.heading.start for one in kept}
    last: dict[str, Candidate] = {}
    for one in candidates:
        if one.heading.start in is_kept:
            last[one.kind] = one
        elif (above := last.get(one.kind)) and len(one.number) <= len(above.number) and one.number > above.number:
            lost.setdefault(above.heading.start, one.heading.start)
    return lost


def _within_reach(
    text: str, headings: Sequence[Heading], uncertain: Collection[int], lost: Mapping[int, int]
) -> Iterator[Heading]:
    """Yields the headings. The section of an uncertain heading with much more text than others ends early, and the long
    section of a numbered heading where a number was `lost`.
    """
    reach = max(_LEAST_REACH, int(_MOST_REACH * len(text)))
    for heading, following in zip(headings, [*headings[1:], None], strict=False):
        yield heading
        end = following.start if following else len(text)
        if (next_section := _find_run_in(text, heading, end)) is not None:
            yield Heading(heading.level, "", next_section, next_section, is_leaf=heading.is_leaf)
            continue
        if end - heading.end <= reach:
            continue
        at = lost.get(heading.start, -1)
        if heading.start in uncertain and (stop := _PARAGRAPH_END.search(text, heading.end + reach, end)):
            at = stop.end()
        if heading.end < at < end:
            yield Heading(heading.level, "", at, at, is_leaf=heading.is_leaf)


def _find_run_in(text: str, heading: Heading, end: int) -> int | None:
    """Returns where the next section begins within the section of a heading such as `Section 2.15. Fees`, if its title
    is the beginning of its first paragraph: `Section 2.16. Losses. The Borrower …`.
    """
    own = _SECTION.match(heading.title)
    if own is None:
        return None
    number = [int(part) for part in own[2].split(".")]
    for found in _SECTION_LINE.finditer(text, heading.end, end):
        later = [int(part) for part in found[2].split(".")]
        if found[1].casefold() == own[1].casefold() and len(later) == len(number) and later > number:
            return found.start(1)
    return None


def _candidates(text: str, body: int) -> Iterator[Candidate]:
    """Yields the lines that may be headings. `body` is the indent of the prose, or 0."""
    skip = -1
    above = last = heading = ""  # the lines with text before the line, and the line of the last candidate
    for before, line, after, second in (_lines_alone if is_unwrapped(text) else _windows)(text):
        above, last = last, line.text or last
        goes_on = before.text and not (line.text.startswith(CJK_BEGINNINGS) and CJK_HEADING.fullmatch(line.text))
        if goes_on or line.start < skip or not _may_be_heading(line.text):
            continue  # Chinese books have no blank lines around headings
        is_outside = line.indent < body
        candidate = (
            _underlined(line, after)
            or _worded(line, after, second)
            or _numbered(line, after, second, is_outside=is_outside)
        )
        if candidate is None and is_outside and after.indent > line.indent:  # its text begins in the next line
            candidate = _worded(line, _NO_LINE, after) or _numbered(line, _NO_LINE, after, is_outside=True)
        if candidate is not None and is_outside:
            candidate = replace(candidate, is_outside=True)
        if candidate is None and is_outside:
            candidate = _outside(line, after)
        if candidate is None and not body and (above == heading or not _is_in_stack(above)):
            candidate = _capitals(line, after, second)
        if candidate is not None:
            skip, heading = candidate.heading.end, line.text
            yield candidate


def _windows(text: str) -> Iterator[tuple[_Line, _Line, _Line, _Line]]:
    """Yields each line with that before it and the two after it, without the white space around them."""
    blank = _NO_LINE
    window = [blank, blank, blank]
    for found in _LINE.finditer(text):
        shown = found[1]
        if len(shown) > 4 * _LONGEST:  # a long line is never looked at
            shown = "x" * (4 * _LONGEST)
        unindented = shown.lstrip()
        line = _Line(unindented.rstrip(), *found.span(), len(shown) - len(unindented))
        before, current, after = window
        if current.text:
            yield before, current, after, line
        window = [current, after, line]
    yield window[0], window[1], window[2], blank
    yield window[1], window[2], blank, blank


def _lines_alone(text: str) -> Iterator[tuple[_Line, _Line, _Line, _Line]]:
    """Yields each line as `_windows` does where empty lines stand between all lines."""
    line: _Line | None = None
    for following in _non_blank(text):
        if line:
            yield _NO_LINE, line, _NO_LINE, following
        line = following
    if line:
        yield _NO_LINE, line, _NO_LINE, _NO_LINE


def _non_blank(text: str) -> Iterator[_Line]:
    for found in _LINE.finditer(text):
        if found[1][:1000].strip():
            yield _Line(found[1][: 4 * _LONGEST].strip(), found.start(), found.end())
        if found.end() == len(text):
            return


def _may_be_heading(line: str) -> bool:
    return 0 < len(line) <= _LONGEST and any(map(str.isalpha, line))


def _underlined(line: _Line, after: _Line) -> Candidate | None:
    mark = _UNDERLINE.fullmatch(after.text)
    if mark is None or not 0.5 * len(line.text) <= len(after.text) <= 2 * len(line.text) + 2:
        return None
    if len(after.text) > len(line.text) + 2 and is_sentence(line.text):
        return None  # a rule below a paragraph
    return Candidate(Heading(0, one_line(line.text), line.start, after.end), "underlined " + mark[1])


def _worded(line: _Line, after: _Line, second: _Line) -> Candidate | None:
    """A heading by its word. Without a title of its own, it takes the next line if that stands alone below it."""
    found = word_level(line.text)
    if found is None:
        return None
    level, needs_title = found
    heading = Heading(level, one_line(line.text), line.start, line.end, is_leaf=is_name(line.text))
    if not after.text or CJK_HEADING.fullmatch(line.text):
        kind = "word for a name" if heading.is_leaf else f"word {level}"
        return Candidate(heading, kind, own_title=not needs_title)
    subtitle = needs_title and not second.text and _may_be_heading(after.text) and word_level(after.text) is None
    if subtitle and not is_sentence(after.text.rstrip(".!?")):
        title = f"{heading.title} {one_line(after.text)}"
        return Candidate(replace(heading, title=title, end=after.end), f"word {level}")
    whole = line if needs_title else _with_next(line, after, second)
    if whole is not line and word_level(whole.text) == found:
        return Candidate(Heading(level, one_line(whole.text), whole.start, whole.end), f"word {level}")
    return None


def _with_next(line: _Line, after: _Line, second: _Line) -> _Line:
    """Returns the line joined with the line below it if it goes on and ends there; else the line itself."""
    first_word = after.text.partition(" ")[0]
    is_whole = not after.text or second.text or len(after.text) > len(line.text)
    if is_whole or len(line.text) + 1 + len(first_word) <= _FULL_LINE or is_sentence(after.text.rstrip("?")):
        return line
    return _Line(f"{line.text} {after.text}", line.start, after.end, line.indent)


def _numbered(line: _Line, after: _Line, second: _Line, *, is_outside: bool) -> Candidate | None:
    """A heading by its number: 2.1 Results. Only a heading with two numbers or more goes on in the next line.

    Its title may begin with a small letter if its place says that it is a heading, too: 4.1 control.
    """
    is_subsection = _SUBSECTION.match(line.text) is not None
    whole = _with_next(line, after, second) if is_subsection else line
    if whole is not line:
        line, after = whole, second
    found = _NUMBERED.fullmatch(line.text)
    if found is None or after.text:
        return None
    title = found["title"] or found["lettered"] or found["named"] or ""
    plain = title.removesuffix(".")  # as in contracts: 2. Basic Permissions.
    if found["number"]:
        plain = plain.removesuffix("?")
    most = 2 * _MOST_NUMBERED if is_subsection else _MOST_NUMBERED
    may_be_small = is_outside and is_subsection
    if title and (
        (plain[:1].islower() and not may_be_small)
        or not plain[:1].isalpha()
        or is_sentence(plain)
        or len(plain.split()) > most
    ):
        return None
    if found["roman"]:
        value = roman_value(found["roman"])
        number: tuple[int, ...] = (value,) if value else ()
        kind = "roman"
    elif found["letter"]:
        letter, _, rest = found["letter"].partition(".")
        number = (ord(letter) - ord("A") + 1, *(int(part) for part in rest.split(".")))
        kind = "lettered number"
    else:
        number = tuple(int(part) for part in found["number"].split("."))
        kind = "dotted number" if title.endswith(".") else "number"
    if not number:
        return None
    return Candidate(Heading(len(number), one_line(line.text), line.start, line.end), kind, number)


def _is_in_stack(above: str) -> bool:
    """Whether the line with text above is in capitals, and no heading: a title page, a name over several lines."""
    return above.isupper() and word_level(above) is None and _NUMBERED.fullmatch(above) is None


def _capitals(line: _Line, after: _Line, second: _Line) -> Candidate | None:
    text = line.text
    if _SIGNED.match(second.text) or _END.match(text):
        return None
    alone = not after.text and len(text) <= _LONGEST_CAPITALS and len(text.split()) <= _MOST_CAPITALS
    if not alone or not text.isupper() or sum(map(str.isalpha, text)) < 4:
        return None
    if is_sentence(text) or _LIST_MARK.match(text) or not all(map(_CAPITALS.fullmatch, text.split())):
        return None
    return Candidate(Heading(0, one_line(text), line.start, line.end), "capitals")


def _outside(line: _Line, after: _Line) -> Candidate | None:
    """A heading by its place, further left than the prose: a few words, or the head of an entry in a changelog."""
    text = line.text
    if after.text and after.indent <= line.indent:
        return None
    if not _CHANGES.fullmatch(text):
        is_title = (text[0].isalnum() or text[0] in _OPENING) and not (
            text[0].islower() or _CODE.search(text) or _COLUMNS.search(text) or _LIST_MARK.match(text)
        )
        if not is_title or is_sentence(text.removesuffix("?")) or len(text.split()) > _MOST_NUMBERED:
            return None
    return Candidate(Heading(0, one_line(text), line.start, line.end, is_leaf=True), "outside")


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
