"""Entries of manuals and change logs that a question names: the paragraph of an option, and a release with its date."""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from core.documents import HEADING_SEPARATOR, Span
from core.passage_context.named_parts import RELEASE_WORDS
from core.passage_context.tables import is_row
from core.ports.retrieval import Hit
from core.text.value_kinds import ValueKind, find_digits, find_stems
from core.validity.written_dates import leave_out_dates
from reasoning.strategies.extractive.quoting.asked import Asked
from reasoning.strategies.extractive.quoting.evidence import find_head_stems
from reasoning.strategies.extractive.quoting.units import READ, Unit

__all__ = ["find_dated_entry", "find_entry", "find_implied_entry", "find_implied_option", "has_entry", "list_options"]

_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]{0,40}")
_LINE = re.compile(r"[^\n]+")
_TERM = re.compile(r"[ \t]*(--?[A-Za-z0-9][^\n]{0,100})")
"""How a line begins that may be the term of an entry."""
_BEHIND_TERM = re.compile(r" {2,}|\t|:\s")
"""What parts a term from its description in the same line."""
_TERM_WORDS = 8
_LONGEST_TERM = 70
_LONGEST = 700
_NEAR = 6
"""Units of which one may be of the entry that the best unit leads to."""
_IMPLIES = re.compile(
    r"\b(?:impl(?:y|ies|ied)|same as|short for|see|use|using|like|with|specify|enables?|turns on|entspricht|siehe"
    r"|impliziert|implique|voir)\s{1,20}(?:the\s{1,20})?(--[A-Za-z][\w-]{0,40})"
)
_RELEASED = find_stems(
    "released release published issued dated date happened occurred came out come take place "
    "erschienen erschien veröffentlicht Datum passiert publiée publié sortie sorti date"
)
"""Words of a question for the date of something, which a heading with a name and a date need not have."""
_SIGN = re.compile(r"[^\W_][\w.-]*")
_WORD = re.compile(r"[^\W_]+")


def list_options(text: str) -> frozenset[str]:
    """Returns the options of a command that a text names: `-s`, `--small`."""
    return frozenset(_OPTION.findall(text))


def find_entry(question: str, units: Sequence[Unit]) -> tuple[int, Unit] | None:
    """Returns the place and the words of the unit that describes the one option that a question names, with the term
    above it; None if the question names none or several, or no unit describes it. The units are the best first.
    """
    options = list_options(question)
    if len(options) != 1:
        return None
    for place, unit in enumerate(units):
        text = unit.hit.chunk.text[:READ]
        for start, end in _list_terms(text, options):
            is_first = unit.span.start <= start < unit.span.end or end <= unit.span.start == _find_next(text, end)
            if is_first and unit.span.end > end and not is_row(unit.text) and unit.span.end - start <= _LONGEST:
                span = Span(start=start, end=unit.span.end)
                return place, replace(unit, span=span, text=text[span.start : span.end])
    return None


def _list_terms(text: str, options: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yields where the terms begin and end that are one of the options."""
    for line in _LINE.finditer(text):
        found = _TERM.match(line[0])
        if found is None:
            continue
        start = line.start() + found.start(1)
        parted = _BEHIND_TERM.search(found[1])
        term = found[1][: parted.start()] if parted else found[1]
        is_term = parted is not None or len(found[1]) <= _LONGEST_TERM
        is_term &= len(term.split()) <= _TERM_WORDS and not term.endswith(".")
        if is_term and options & set(_OPTION.findall(term)):
            yield start, start + len(term)


def _find_next(text: str, end: int) -> int:
    """Returns where the first word behind a place begins."""
    return end + len(text[end:]) - len(text[end:].lstrip())


def has_entry(option: str, hit: Hit) -> bool:
    """Returns whether a passage has the entry of an option."""
    return any(True for _ in _list_terms(hit.chunk.text[:READ], frozenset({option})))


def find_implied_option(sentence: str) -> str:
    """Returns the option whose entry a sentence leads to: "The option implies --partial"; "" if it leads to none."""
    found = _IMPLIES.search(sentence)
    return found[1] if found else ""


def find_implied_entry(units: Sequence[Unit]) -> tuple[int, Unit] | None:
    """Returns the place and the best unit of the passage with the entry that the best unit leads to, if it is among the
    next ones; None if there is none.
    """
    option = find_implied_option(units[0].text) if units else ""
    if not option or has_entry(option, units[0].hit):
        return None
    near = ((place, unit) for place, unit in enumerate(units[1:_NEAR], start=1) if has_entry(option, unit.hit))
    return next(near, None)


def find_dated_entry(asked: Asked, units: Sequence[Unit]) -> tuple[Unit, str] | None:
    """Returns a unit below a heading that has only a name of the question and the date that is asked for, and this
    heading: `2.5.0 (2025-06-18)`. None if the question asks for no date, or has other words than the name of the
    document.
    """
    if asked.kind is not ValueKind.DATE:
        return None
    wanted = {word.stem for word in asked.words if not word.is_kind} - _RELEASED
    for unit in units:
        for part in unit.hit.chunk.heading.split(HEADING_SEPARATOR):
            named = {stem for stem in wanted & find_stems(part) if find_digits(stem)}
            if named and wanted <= find_head_stems(unit.hit) and _is_dated(part, named, wanted & _name(unit.hit)):
                return unit, part
    return None


def _name(hit: Hit) -> frozenset[str]:
    return find_stems(f"{hit.document.title}\n{hit.document.key}")


def _is_dated(heading: str, signs: Set[str], names: Set[str]) -> bool:
    """Returns whether a heading has one date, and nothing beside it but these stems of signs and of names: a version
    number is no date, and the date of `2.5.0 fixes the fault of 2019-01-01` is not that of the version.
    """

    def leave_out(found: re.Match[str]) -> str:
        return " " if signs & find_stems(found[0]) else found[0]

    rest, dates = leave_out_dates(_SIGN.sub(leave_out, heading))
    words = [word for word in _WORD.findall(rest.casefold()) if word not in RELEASE_WORDS]
    return dates == 1 and all((stems := find_stems(word)) and stems <= names for word in words)
