"""Headings of plain text that belong together: numbers that count up, and the levels of all kinds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from indexer.loading.texts.chapter_words import chapter_number, is_name
from indexer.loading.texts.sections import Heading

_OTHER_LEVEL = 10  # kinds that have no rank of their own begin here, in the order in which they appear
_SERIES = {"number": 2, "dotted number": 3, "roman": 3, "lettered number": 0}
"""The kinds of numbered headings, and how many the top level must have: fewer are taken for a list."""
_FEWEST_SECTIONS = 2
_MOST_MISSED = 2
_FEWEST_WORDS = {True: 2, False: 3}
"""Words of a heading that has a title: with a number alone, and with a word and a number."""
_MOST_CONTENTS = 300
"""Characters between two lines of a table of contents."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A line that may be a heading. `number` is its number, if any. Candidates of one series have the same `kind`.

    If `is_outside`, the line begins further left than the prose.
    """

    heading: Heading
    kind: str
    number: tuple[int, ...] = ()
    own_title: bool = True
    is_outside: bool = False


def keep_in_order(found: Sequence[Candidate]) -> list[Candidate]:
    """Leaves out numbered lines that stand alone, or that do not count up by one from an earlier number.

    Where chapters are words, their sections (9.1 below "Chapter 9") only have to count up, and need no number above.
    Where lines outside of the prose make a longer series than all lines together, only they are kept.
    """
    found = _without_contents(found)
    kept: list[Candidate] = []
    outside = [one for one in found if one.is_outside or one.kind not in _SERIES]
    for kind, fewest in _SERIES.items():
        longest: list[Candidate] = []
        for candidates in (found, outside):
            counted = _count_up([one for one in candidates if one.kind == kind], fewest)
            sections = _sections_of_chapters(candidates, kind)
            longest = max((longest, counted, sections), key=len)
        kept += longest
    order = {id(one) for one in kept}
    return [one for one in found if one.kind not in _SERIES or id(one) in order]


def _without_contents(found: Sequence[Candidate]) -> list[Candidate]:
    """Leaves out the lines of a table of contents, which are headings again below and have little text after them."""
    last = {one.heading.title.casefold(): n for n, one in enumerate(found)}
    return [
        one
        for n, (one, following) in enumerate(zip(found, [*found[1:], None], strict=False))
        if last[one.heading.title.casefold()] == n
        or not (one.number or one.kind.startswith("word"))
        or len(one.heading.title.split()) < _FEWEST_WORDS[one.number != ()]
        or following is None
        or following.heading.start - one.heading.end > _MOST_CONTENTS
    ]


def _count_up(found: Sequence[Candidate], fewest: int) -> list[Candidate]:
    last: tuple[int, ...] = ()
    series: list[Candidate] = []
    for one, following in zip(found, [*found[1:], None], strict=False):
        may_skip = one.is_outside or _is_confirmed(one, following)
        if _follows(last, one.number) or (may_skip and _goes_on(last, one.number)):
            series.append(one)
            last = one.number
    return series if sum(len(one.number) == 1 for one in series) >= fewest else []


def _is_confirmed(one: Candidate, following: Candidate | None) -> bool:
    """Whether a number of the top level is gone on from by the next number: a document may leave out a number."""
    return len(one.number) == 1 and following is not None and _follows(one.number, following.number)


def _sections_of_chapters(found: Sequence[Candidate], kind: str) -> list[Candidate]:
    """Returns the candidates that begin with the number of the chapter above them, if their numbers ascend."""
    last: tuple[int, ...] = ()
    sections: list[Candidate] = []
    for one in found:
        if one.kind.startswith("word") and not is_name(one.heading.title):
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


def _goes_on(last: tuple[int, ...], number: tuple[int, ...]) -> bool:
    """Whether a number is larger, and not by much: a heading between them was not seen."""
    return bool(last) and number > last and number[0] <= last[0] + _MOST_MISSED


def give_levels(found: Sequence[Candidate], above: Sequence[str] = ()) -> list[Heading]:
    """Returns the headings with their levels: headings with a word by its rank, the other kinds in their order below.

    `above` are the kinds of the title. Headings that only stand outside of the prose have the level of the highest
    numbered headings.

    Where no word has a number (Preface, Contents), headings with a word have the highest level of the other headings.
    """
    kinds = list(dict.fromkeys([*above, *_other_kinds(found)]))
    numbered = next((kind for kind in kinds if kind in _SERIES), None)
    ranks = {kind: _OTHER_LEVEL * (1 + rank) for rank, kind in enumerate(kinds)}
    if numbered and "outside" in ranks:
        kinds.remove("outside")
        ranks = {kind: _OTHER_LEVEL * (1 + rank) for rank, kind in enumerate(kinds)}
        ranks["outside"] = ranks[numbered] + 1
    others = [replace(one.heading, level=ranks[one.kind] + one.heading.level) for one in found if one.kind in ranks]
    only_names = all(is_name(one.heading.title) for one in found if one.kind not in ranks)
    top = min((heading.level for heading in others), default=0) if only_names else 0
    named = [
        replace(one.heading, level=top) if top else one.heading  # beside the others, or above them
        for one in found
        if one.kind not in ranks
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
