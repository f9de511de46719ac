"""Names in text, found by capitals, digits and quotation marks, without a model.

The extractor `pattern` uses it on passages, and `retrieval.pagerank.name_linking` on questions.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from core.execution.limits import check_work
from core.text.word_lists import ABBREVIATIONS, ARTICLES, CALENDAR_WORDS, CONNECTIVES, FUNCTION_WORDS, WITH_SUBJECT

_MAX_WORDS = 10
"""The greatest number of words of a name; a longer run of capitals is the row of a table, or text in capitals."""

_LONGEST_REMEMBERED = 20_000
"""Characters of the longest text whose names are remembered."""
_MOST_HELD = 256
"""The words of a run that are in memory at a time: a text may be one run of a million capitals."""

_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts without capitals whose letters may stand directly beside a Latin name (`我用C++写`)."""

_LETTER = rf"[^\W_{_SPACELESS}]"
_PART = rf"{_LETTER}(?:{_LETTER}|[\u0300-\u036f\u200c\u200d])*"
_TOKEN = re.compile(
    rf"(?:[^\W\d_{_SPACELESS}]\.){{2,}}(?:[^\W\d_{_SPACELESS}](?!{_LETTER}))?"  # U.S., J.R.R
    rf"|{_PART}(?:['’\-‐‑&./]{_PART})*(?:\+\+|[+#](?!\w))?"
)

_QUOTED = re.compile(
    r"\"([^\"\n]{1,100})\""
    r"|“([^“”\n]{1,100})”"
    r"|„([^„“”\n]{1,100})[“”]"
    r"|«\s?([^«»\n]{1,100}?)\s?»"
    r"|``([^`\n]{1,100}?)''"
    r"|《([^《》\n]{1,60})》"
    r"|〈([^〈〉\n]{1,60})〉"
    r"|「([^「」\n]{1,60})」"
    r"|『([^『』\n]{1,60})』"
    r"|(?<!\w)['‘](?=[^\W_])([^'‘’\n]{1,100})['’](?!\w)"
)
_OPENERS = (FUNCTION_WORDS - CONNECTIVES) | ARTICLES
"""Words with which a sentence begins, behind `Party B.` too."""
_PART_BEFORE = re.compile(
    r"\b(?:Article|Section|Part|Ann?exe?|Appendix|Exhibit|Schedule|Chapter|Anhang|Anlage|Teil|Kapitel)\s$",
    re.IGNORECASE,
)
_LEAST_WRAPPED = 50
"""Characters of a line that may be broken because it is full."""
_LONGEST_ROW = 200
_LONGEST_PART = 10
_SENTENCE_END = re.compile(r"[.!?…。！？,;:]$")


@dataclass(frozen=True, kw_only=True, slots=True)
class NameSpan:
    """A name as it is written, at `[start, end)` code points of the text; `quoted` if quotation marks show it."""

    start: int
    end: int
    form: str
    quoted: bool = False


def find_names(text: str) -> list[NameSpan]:
    """Returns the names in `text`, in order, none overlapping another.

    Names are quoted strings, and runs of capitalised words with connectives between them and numbers after them. A
    leading article is not part of a run; nor is a leading function word at the beginning of a sentence, where it has
    its capital from.

    The names of the last texts are remembered: most passages of a new revision of a document are the same.
    """
    return list(iter_names(text) if len(text) > _LONGEST_REMEMBERED else _remembered_names(text))


def iter_names(text: str) -> Iterator[NameSpan]:
    """Yields what `find_names` returns. Of a long text, few names are in memory at a time."""
    done = 0
    for quote in _QUOTED.finditer(text):
        name = _quoted_name(text, quote)
        if name is not None:
            yield from _find_runs(text, done, quote.start())
            yield name
            done = quote.end()
    yield from _find_runs(text, done, len(text))


@lru_cache(maxsize=1 << 12)
def _remembered_names(text: str) -> tuple[NameSpan, ...]:
    return tuple(iter_names(text))


def _quoted_name(text: str, quote: re.Match[str]) -> NameSpan | None:
    group = quote.lastindex or 0
    start, end = quote.span(group)
    while end > start and (text[end - 1].isspace() or _SENTENCE_END.match(text[end - 1])):
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    form = text[start:end]
    if len(form.split()) > _MAX_WORDS or not any(c.isalnum() for c in form):
        return None
    return NameSpan(start=start, end=end, form=form, quoted=True)


def _find_runs(text: str, start: int, end: int) -> Iterator[NameSpan]:
    """Yields the runs of capitalised words in `text[start:end]`."""
    run: list[re.Match[str]] = []
    pending: list[re.Match[str]] = []
    is_row = False
    for token in _TOKEN.finditer(text, start, end):
        word = token.group()
        previous = pending[-1] if pending else run[-1] if run else None
        if previous is not None and not _may_join(text, previous, token):
            yield from _make_name(text, run, is_row=is_row)
            run, pending, is_row = [], [], False
        if (not word.islower() and any(map(str.isupper, word))) or (run and word[0].isdecimal() and not pending):
            run += [*pending, token]
            pending = []
        elif run and (word in CONNECTIVES or (word == "on" and _takes_subject(run[-1]))) and len(pending) < 3:
            pending.append(token)
        elif run:
            yield from _make_name(text, run, is_row=is_row)
            run, pending, is_row = [], [], False
        if len(run) > _MOST_HELD:
            check_work()
            yield from _make_name(text, run[:-1], is_row=is_row)
            run, is_row = run[-1:], True
    yield from _make_name(text, run, is_row=is_row)


def _may_join(text: str, left: re.Match[str], right: re.Match[str]) -> bool:
    """Returns whether two words may belong to one name, by the text between them."""
    gap = text[left.end() : right.start()].replace("\u00a0", " ")
    if gap in (" ", "  ", " & ", ""):
        return bool(gap)
    if gap == ". ":
        word = left.group()
        if _PART_BEFORE.search(text[max(left.start() - _LONGEST_PART, 0) : left.start()]):
            return False
        return (
            len(word) == 1 and word.isalpha() and right.group().casefold() not in _OPENERS
        ) or word.casefold() in ABBREVIATIONS
    if gap == "\n" and (
        right.group()[0].isdecimal() or left.group()[0].isdecimal() or text.startswith(":", right.end())
    ):
        return False
    # A line break within a wrapped line, not after a heading or an item of a list, nor before a row of a table.
    if gap != "\n" or left.end() - (text.rfind("\n", 0, left.end()) + 1) <= _LEAST_WRAPPED:
        return False
    end = text.find("\n", right.end())
    return text.find(" | ", right.end(), end if end >= 0 else right.end() + _LONGEST_ROW) < 0


def _make_name(text: str, run: list[re.Match[str]], *, is_row: bool = False) -> Iterator[NameSpan]:
    """Yields the run as a name, without leading articles and function words. `is_row`: the run is of a long row."""
    if is_row:
        yield from _split_row(run)
        return
    first = 0
    while first < len(run) and _is_leading(run[first], begins=first > 0 or begins_sentence(text, run[0].start())):
        first += 1
    if first > 0 and run[first - 1].group().casefold() not in ARTICLES:
        is_month = run[first : first + 1] and run[first].group().casefold() in CALENDAR_WORDS
        date = first + 1 if is_month else first
        if date < len(run) - 1 and run[date].group().isdecimal():
            first = date + 1  # `In 1969 Kazan`, but not `The 1969 World Cup`
    kept = run[first:]
    if len(kept) > _MAX_WORDS:
        yield from _split_row(kept)
        return
    if not kept or not any(map(str.isupper, "".join(t.group() for t in kept))):
        return
    start, end = kept[0].start(), kept[-1].end()
    if text.startswith(("'s", "’s"), end - 2):
        end -= 2
    if end - start > 1:
        yield NameSpan(start=start, end=end, form=text[start:end])


def _split_row(run: list[re.Match[str]]) -> Iterator[NameSpan]:
    """Yields the capitalised words of a table row without columns (`Montana Nebraska Nevada`), and none in all
    capitals.
    """
    for token in run:
        word = token.group()
        if len(word) > 2 and word[0].isupper() and not word.isupper() and word.casefold() not in FUNCTION_WORDS:
            yield NameSpan(start=token.start(), end=token.end(), form=word)


def _takes_subject(token: re.Match[str]) -> bool:
    """Whether a subject may follow with `on`, as in `Committee on Foreign Relations`."""
    return token.group() in WITH_SUBJECT


def _is_leading(token: re.Match[str], *, begins: bool) -> bool:
    word = token.group().casefold()
    return word in ARTICLES or (begins and word in FUNCTION_WORDS)


_ENUMERATED = re.compile(r"\(?\w\)$")
_ITEM = re.compile(r"(?:^|\n)[ \t>]*(?:[-–—+]|\(?\w{1,4}\)|\d{1,2}(?:\.\d{1,3})*)[ \t\u00a0]+$")
"""The beginning of a line that is an item of a list or a heading with a number, up to its first word."""
_LONGEST_ITEM = 24


def begins_sentence(text: str, start: int) -> bool:
    """Returns whether the word at `start` is the first of a sentence, a line, a cell or an item, or behind a colon."""
    before = text[max(start - 4, 0) : start].rstrip(" \t\u00a0\"'“‘(«„")
    if not before or before[-1] in ".!?:;…\n|•*▪►>_#":
        return True
    if before[-1] in ")-–—+" or before[-1].isdigit():
        before_item = text[max(start - _LONGEST_ITEM, 0) : start]
        return _ENUMERATED.search(before) is not None or _ITEM.search(before_item) is not None
    return False
