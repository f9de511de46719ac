"""Headings of plain text that belong together: numbers that count up, and the levels of all kinds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from indexer.loading.texts.chapter_words import chapter_number, is_name
from indexer.loading.texts.sections import Heading

__all__ = ["Candidate", "give_levels", "keep_in_order"]

_OTHER_LEVEL = 10  # kinds that have no rank of their own begin here, in the order in which they appear
_SERIES = {"number": 2, "dotted number": 3, "roman": 3}
"""The kinds of numbered headings, and the smallest number of those at the top level: fewer are taken for a list."""
_FEWEST_SECTIONS = 2


@dataclass(frozen=True, slots=True)
class Candidate:
    """A line that may be a heading. `number` is that of a numbered one; `kind` tells those that belong together."""

    heading: Heading
    kind: str
    number: tuple[int, ...] = ()
    own_title: bool = True


def keep_in_order(found: Sequence[Candidate]) -> list[Candidate]:
    """Leaves out numbered lines that do not count up by one from a number that was there, or that stand alone.

    Where chapters are words, their sections (9.1 below "Chapter 9") only have to count up, and need no number above.
    """
    kept: list[Candidate] = []
    for kind, fewest in _SERIES.items():
        counted = _count_up([one for one in found if one.kind == kind], fewest)
        sections = _sections_of_chapters(found, kind)
        kept += sections if len(sections) > len(counted) else counted
    order = {id(one) for one in kept}
    return [one for one in found if one.kind not in _SERIES or id(one) in order]


def _count_up(found: Sequence[Candidate], fewest: int) -> list[Candidate]:
    last: tuple[int, ...] = ()
    series: list[Candidate] = []
    for one in found:
        if _follows(last, one.number):
            series.append(one)
            last = one.number
    return series if sum(len(one.number) == 1 for one in series) >= fewest else []


def _sections_of_chapters(found: Sequence[Candidate], kind: str) -> list[Candidate]:
    """Returns those whose first number is that of the chapter above them, with larger and larger numbers."""
    last: tuple[int, ...] = ()
    sections: list[Candidate] = []
    for one in found:
        if one.kind.startswith("word"):
            value = chapter_number(one.heading.title)
            last = (value,) if value else ()
        elif one.kind == kind and len(one.number) > 1 and one.number[:1] == last[:1] and one.number > last:
            sections.append(one)
            last = one.number
    return sections if len(sections) >= _FEWEST_SECTIONS else []


def _follows(last: tuple[int, ...], number: tuple[int, ...]) -> bool:
    """1 → 2, 1 → 1.1, 1.1 → 1.2, 1.2.3 → 1.3 or 2; the first is 1 (or 1.1)."""
    if not last:
        return number[0] in (0, 1) and set(number[1:]) <= {1}
    depth = len(number)
    if depth > len(last):
        return number[: len(last)] == last and set(number[len(last) :]) <= {1}
    return number[:-1] == last[: depth - 1] and number[-1] == last[depth - 1] + 1


def give_levels(found: Sequence[Candidate]) -> list[Heading]:
    """Returns the headings with their levels: those with a word by its rank, the other kinds in their order below.

    Where no word has a number (Preface, Contents), those with a word are beside the highest of the others.
    """
    kinds = _other_kinds(found)
    others = [
        replace(one.heading, level=_OTHER_LEVEL * (1 + kinds.index(one.kind)) + one.heading.level)
        for one in found
        if one.kind in kinds
    ]
    only_names = all(is_name(one.heading.title) for one in found if one.kind not in kinds)
    top = min((heading.level for heading in others), default=0) if only_names else 0
    named = [
        replace(one.heading, level=top) if top else one.heading  # beside the others, or above them
        for one in found
        if one.kind not in kinds
    ]
    return sorted([*others, *named], key=lambda heading: heading.start)


def _other_kinds(found: Sequence[Candidate]) -> list[str]:
    """Returns the kinds without a word in the order in which they appear.

    Capitals come last if all of them are before the first number: they are the front of a book, and not its parts.
    """
    kinds = list(dict.fromkeys(one.kind for one in found if not one.kind.startswith("word")))
    numbered = next((n for n, one in enumerate(found) if one.kind in _SERIES), None)
    if numbered is not None and "capitals" in kinds and all(one.kind != "capitals" for one in found[numbered:]):
        kinds.remove("capitals")
        kinds.append("capitals")
    return kinds
