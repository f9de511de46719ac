"""The layout of plain text: how far its prose is indented, a title in the middle of a line, and its printed pages."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from core.text.titles import one_line
from indexer.loading.running_lines import find_running_lines
from indexer.loading.texts.chapter_words import word_level

_LEAST_PROSE = 40
"""Characters of a line that is taken for prose."""
_LOOKED_AT = 20_000
"""Lines of which the indent of the prose is found."""
_LOOKED_AT_CHARACTERS = 200_000
_LONGEST_WRAPPED = 160
_MOST_OUTSIDE = 0.2
_DEEPEST = 12

_PAGE_WIDTH = 72
_LEAST_MARGIN = 5
_OFF_CENTRE = 6
_TITLE_LINES = 40
_MOST_PROSE_BEFORE_TITLE = 2
_COLUMNS = re.compile(r"\S {2,}\S")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]]*$")
_NAMED_NUMBER = re.compile(r"[^\W\d_]{2}[^\d\n]{0,40}\d{1,5}\W?")
_PAGE_WORDS = ("page", "seite", "p.", "s.")
_ITEM = re.compile(r"[-*+•]\s|\(?[^\W_]{1,3}[.)]\s|\d{1,3}(?:\.\d{1,3}){1,5}\.?\s")
_LOOKED_BACK = 400
"""Characters at the end of a page that tell whether a paragraph goes on."""
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){3,}")


def find_body_indent(lines: Sequence[str]) -> int:
    """Returns how far most lines of prose are indented, if few of them begin further left; else 0."""
    indents = Counter(len(line) - len(line.lstrip(" ")) for line in islice(lines, _LOOKED_AT) if _is_prose(line))
    if not indents:
        return 0
    body = indents.most_common(1)[0][0]
    outside = sum(count for indent, count in indents.items() if indent < body)
    return body if body <= _DEEPEST and outside <= _MOST_OUTSIDE * indents.total() else 0


def _is_prose(line: str) -> bool:
    if not _LEAST_PROSE <= len(line) <= 4 * _PAGE_WIDTH:
        return False
    text = line.strip()
    return len(text) >= _LEAST_PROSE and not _has_columns(text)


def _has_columns(text: str) -> bool:
    return "  " in text and _COLUMNS.search(text) is not None


def is_unwrapped(text: str) -> bool:
    """Whether each line is a paragraph: most of the text stands in lines that are longer than any wrapped line."""
    shown = text[:_LOOKED_AT_CHARACTERS]
    return 2 * sum(len(line) for line in shown.splitlines() if len(line) > _LONGEST_WRAPPED) > len(shown)


def find_centred_title(lines: Sequence[str]) -> str:
    """Returns the first lines if they stand alone in the middle of the page, before any prose; else ''."""
    prose = 0
    title: list[str] = []
    shown = islice((line.rstrip() for line in lines), 2 * _TITLE_LINES)
    for before, line in pairwise(["", *shown, ""]):
        if title:
            if not line.strip():
                return " ".join(" ".join(title).split())
            if not _is_centred(line) or len(title) > 2:
                return ""
            title.append(line)
        elif not before.strip() and _is_centred(line):
            title.append(line)
        elif len(line.strip()) >= _LEAST_PROSE and not _COLUMNS.search(line.strip()):
            prose += 1
            if prose > _MOST_PROSE_BEFORE_TITLE:
                return ""
    return ""


def _is_centred(line: str) -> bool:
    text = line.strip()
    left = len(line) - len(line.lstrip(" "))
    right = _PAGE_WIDTH - left - len(text)
    return (
        left >= _LEAST_MARGIN
        and abs(left - right) <= _OFF_CENTRE
        and sum(map(str.isalpha, text)) >= 4
        and not _COLUMNS.search(text)
        and not _SENTENCE_END.search(text)
    )


class JoinedPages(NamedTuple):
    """A text without its pages. `numbered` are the lines such as `Lesson 3` that were taken for numbers of pages."""

    text: str
    numbered: tuple[str, ...] = ()


def join_pages(text: str) -> JoinedPages:
    """Returns a text with form feeds without its pages: their headers, footers and ends are left out.

    A paragraph that goes on at the next page is joined again.
    """
    pages = text.split("\f")
    if len(pages) < 3:
        return JoinedPages(text)
    lines = [page.splitlines() for page in pages]
    running = find_running_lines(lines, has_cover=False)
    kept = [
        "\n".join(line for n, line in enumerate(page) if n not in dropped)
        for page, dropped in zip(lines, running, strict=True)
    ]
    left_out = (one_line(page[n]) for page, dropped in zip(lines, running, strict=True) for n in sorted(dropped))
    numbered = tuple(dict.fromkeys(filter(_may_be_numbered_heading, left_out)))
    return JoinedPages(_BLANK_LINES.sub("\n\n\n", "".join(_joined(kept))), numbered)


def _may_be_numbered_heading(line: str) -> bool:
    return _NAMED_NUMBER.fullmatch(line) is not None and not any(word in line.casefold() for word in _PAGE_WORDS)


def _joined(pages: Sequence[str]) -> Iterator[str]:
    last = ""
    for page in pages:
        body = page.strip("\r\n").rstrip()
        if not body.strip():
            continue
        if last:
            yield "\n" if _goes_on(last, body) else "\n\n"
        yield body
        last = body[-_LOOKED_BACK:]
    yield "\n"


def _goes_on(last: str, body: str) -> bool:
    """Whether a page begins within the paragraph that ends the page before, whose last characters are `last`.

    If its first line does not begin with a small letter, the paragraph before must have two lines of the same indent.
    """
    if _SENTENCE_END.search(last):
        return False
    if body.lstrip()[0].islower():
        return True
    *_, before, end = ["", *last.split("\n")]
    first, _, rest = body.partition("\n")
    indent = _indent(first)
    if not (before.strip() and indent == _indent(before) == _indent(end)):
        return False
    if end.endswith(":") or _ITEM.match(end.lstrip()):
        return False
    is_line_alone = not rest.partition("\n")[0].strip() and not _SENTENCE_END.search(first)
    return not (is_line_alone or _ITEM.match(first.lstrip()) or word_level(first.strip()))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
