"""What changed between two versions of a text, clause by clause: a document, and the document that it replaces.

A clause is a heading or a number with the text up to the next one. Clauses are matched by heading, by number and by the
words that they have in common, so that a clause is found again whose number has changed. The words that changed within
a clause are what `difflib` finds.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from heapq import nsmallest
from typing import Literal

from core.execution.limits import check_work
from core.text.sentences import split_sentences

__all__ = ["MOST_CHARACTERS", "MOST_CLAUSES", "Change", "Clause", "WordChange", "compare_texts", "split_clauses"]

MOST_CHARACTERS = 500_000
"""Characters of a text that are compared; the rest is not."""
MOST_CLAUSES = 2_000
"""Clauses of a text; the last one has the rest of the text."""
_MOST_WORDS, _MOST_COMPARISONS = 1_000, 4_000_000
"""Words of a clause that are compared one by one, and pairs of words of all clauses; beyond, sentences are compared."""
_MOST_SCORED = 4_000_000
"""Words that are counted to score pairs of clauses; beyond, only equal clauses are found again."""
_NEAREST = 8
"""Clauses with the same heading, number or word that are looked at as a match."""
_ALIKE, _SAME_NUMBER = 0.5, 0.25
"""The least share of words in common, if nothing else is, and if the number is the same."""

_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]{1,8}(?P<text>[^\n]{1,300})")
_NUMBERED = re.compile(
    r"[ \t]{0,8}[*_]{0,3}(?:(?:article|section|clause|artikel|abschnitt|ziffer|art\.|§{1,2})[ \t\u00a0]{0,3})"
    r"(?P<named>\d{1,4}[a-z]?(?:\.\d{1,4}){0,4})(?![\w/])[.):]?[*_]{0,3}(?P<rest_of_named>[^\n]{0,300})"
    r"|[ \t]{0,8}[*_]{0,3}(?P<number>\d{1,3}(?:\.\d{1,3}){1,4}|\d{1,3}(?=[.)]))(?![\w/])[.)]?[*_]{0,3}[ \t]{1,8}"
    r"(?P<rest>[^\n]{1,300})",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+(?:[.,:/-]\w+)*")
_LONGEST_HEADING = 80


@dataclass(frozen=True, kw_only=True)
class Clause:
    """`number` and `heading` are '' if the clause has none. `text` is what stands under them."""

    number: str
    heading: str
    text: str

    @property
    def name(self) -> str:
        return " ".join(part for part in (self.number, self.heading) if part)

    @cached_property
    def words(self) -> Counter[str]:
        return Counter(_WORD.findall(f"{self.heading} {self.text}".casefold()))

    @cached_property
    def size(self) -> int:
        """The number of its words."""
        return self.words.total()

    @cached_property
    def series(self) -> str:
        """The heading without its digits: the title of a version has its year."""
        words = _WORD.findall(self.heading.casefold())
        return " ".join(word for word in words if not any(map(str.isdecimal, word)))

    @cached_property
    def written(self) -> str:
        """The heading and the text with white space collapsed, by which clauses are equal."""
        return " ".join(f"{self.heading}\n{self.text}".split())


@dataclass(frozen=True, kw_only=True, slots=True)
class WordChange:
    """Words in the place of others; '' where words were only added, or only deleted."""

    old: str
    new: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """A clause that changed. `old` is None for a new clause, `new` for a clause that is no more."""

    old: Clause | None
    new: Clause | None
    words: tuple[WordChange, ...] = ()

    @property
    def kind(self) -> Literal["added", "removed", "changed"]:
        return "added" if self.old is None else "removed" if self.new is None else "changed"


def compare_texts(old: str, new: str) -> tuple[list[Change], int]:
    """Returns the clauses that changed, in the order of the newer text with those that it lacks in between, and how
    many clauses are the same but for white space and their numbers.

    Raises `LoadFailed` if nobody waits for the result any more (`core.execution.limits`).
    """
    olds, news = split_clauses(old), split_clauses(new)
    matched = _match(olds, news)
    changes: list[Change] = []
    unchanged = at = 0
    left = _MOST_COMPARISONS
    lacking = sorted(set(range(len(olds))) - set(matched.values()))
    for number, clause in enumerate(news):
        check_work()
        place = matched.get(number)
        if place is None:
            changes.append(Change(old=None, new=clause))
            continue
        while at < len(lacking) and lacking[at] < place:
            changes.append(Change(old=olds[lacking[at]], new=None))
            at += 1
        if olds[place].written == clause.written:
            unchanged += 1
        else:
            left -= olds[place].size * clause.size
            words = tuple(_compare_words(olds[place], clause, by_sentence=left < 0))
            changes.append(Change(old=olds[place], new=clause, words=words))
    changes += [Change(old=olds[place], new=None) for place in lacking[at:]]
    return changes, unchanged


def split_clauses(text: str) -> list[Clause]:
    """Returns the clauses of a text in order. What stands before the first number or heading is a clause without both.
    Headings without a text of their own are left out.
    """
    clauses: list[Clause] = []
    number, heading, lines = "", "", list[str]()

    def close() -> None:
        if any(line.strip() for line in lines):
            clauses.append(Clause(number=number, heading=heading, text="\n".join(lines).strip()))

    for line in text[:MOST_CHARACTERS].split("\n"):
        begun = _read_begin(line) if len(clauses) < MOST_CLAUSES - 1 else None
        if begun is None:
            lines.append(line)
            continue
        close()
        number, heading, rest = begun
        lines = [rest] if rest else []
    close()
    return clauses


def _read_begin(line: str) -> tuple[str, str, str] | None:
    """Returns the number, the heading, and the beginning of the text of a clause; None if the line begins none."""
    marked = _HEADING.match(line)
    written = line if marked is None else marked["text"].strip().rstrip("#").strip()
    found = _NUMBERED.fullmatch(written)
    if found is None:
        return None if marked is None else ("", written, "")
    number = (found["named"] or found["number"]).casefold()
    rest = (found["rest_of_named"] or found["rest"] or "").strip(" \t*_:–—-")
    is_heading = marked is not None or (0 < len(rest) <= _LONGEST_HEADING and not rest.endswith((".", ";", ",", ":")))
    return (number, rest, "") if is_heading else (number, "", rest)


def _match(olds: Sequence[Clause], news: Sequence[Clause]) -> dict[int, int]:
    """Returns the places of the older clauses by the places of the newer ones, the most alike first."""
    matched: dict[int, int] = {}
    taken: set[int] = set()
    for _, _, at, place in sorted(_score_pairs(olds, news)):
        if at not in matched and place not in taken:
            matched[at] = place
            taken.add(place)
    return matched


def _score_pairs(olds: Sequence[Clause], news: Sequence[Clause]) -> Iterator[tuple[float, int, int, int]]:
    """Yields the pairs that match: the negative score, how far apart they are, and both places, the newer one first."""
    left = _MOST_SCORED
    for at, place in _list_near(olds, news):
        check_work()
        old, new = olds[place], news[at]
        least = _read_least(old, new, is_first=at == place == 0)
        if not _may_reach(old, new, least):
            continue
        if old.written != new.written:
            left -= min(old.size, new.size)
            if left < 0:
                continue
        alike = _compare_counts(old, new)
        if alike >= least:
            yield -alike - 0.5 * _has_heading(old, new) - 0.25 * _has_number(old, new), abs(place - at), at, place


def _list_near(olds: Sequence[Clause], news: Sequence[Clause]) -> Iterator[tuple[int, int]]:
    """Yields the places of newer clauses with the places of the older ones that have a sign of theirs, near first."""
    places = dict[str, list[int]]()
    for at, clause in enumerate(olds):
        check_work()
        for sign in _signs(clause, at):
            places.setdefault(sign, []).append(at)
    for at, clause in enumerate(news):
        near = {place for sign in _signs(clause, at) for place in _find_nearest(places.get(sign, []), at)}
        yield from ((at, place) for place in sorted(near, key=lambda place: (abs(place - at), place)))


def _signs(clause: Clause, at: int) -> Iterator[str]:
    """Yields by what a clause is found: its heading, its number, its longest words, and that it comes first."""
    if clause.series:
        yield f"heading {clause.series}"
    if clause.number:
        yield f"number {clause.number}"
    if at == 0:
        yield "first"
    yield from (f"word {word}" for word in nsmallest(_NEAREST, clause.words, key=lambda word: (-len(word), word)))


def _find_nearest(places: Sequence[int], at: int) -> Sequence[int]:
    """Returns the places nearest to `at`. They are in order, so that many clauses with one heading cost no square."""
    middle = bisect_left(places, at)
    around = places[max(0, middle - _NEAREST) : middle + _NEAREST]
    return sorted(around, key=lambda place: abs(place - at))[:_NEAREST]


def _read_least(old: Clause, new: Clause, *, is_first: bool) -> float:
    """Returns the least share of words in common with which two clauses match."""
    if is_first or _has_heading(old, new):
        return 0.0
    return _SAME_NUMBER if _has_number(old, new) else _ALIKE


def _may_reach(old: Clause, new: Clause, least: float) -> bool:
    """Returns whether so many words can be in common: a long clause shares little with a short one."""
    return min(old.size, new.size) >= least * max(old.size, new.size)


def _compare_counts(old: Clause, new: Clause) -> float:
    """Returns the share of words in common, at the cost of the shorter clause."""
    if old.written == new.written:
        return 1.0
    less, more = sorted((old.words, new.words), key=len)
    common = sum(min(count, more.get(word, 0)) for word, count in less.items())
    all_words = old.size + new.size - common
    return common / all_words if all_words else 1.0


def _has_heading(old: Clause, new: Clause) -> bool:
    return bool(old.series) and old.series == new.series


def _has_number(old: Clause, new: Clause) -> bool:
    return bool(old.number) and old.number == new.number


def _compare_words(old: Clause, new: Clause, *, by_sentence: bool) -> Iterator[WordChange]:
    parts = [old.written.split(), new.written.split()]
    if by_sentence or max(map(len, parts)) > _MOST_WORDS:
        parts = [
            [text[start:end].strip() for start, end in split_sentences(text)] for text in (old.written, new.written)
        ]
    befores, afters = parts
    for kind, start, end, new_start, new_end in SequenceMatcher(None, befores, afters).get_opcodes():
        if kind != "equal":
            yield WordChange(old=" ".join(befores[start:end]), new=" ".join(afters[new_start:new_end]))
