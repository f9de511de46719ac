"""What changed between two versions of a text, clause by clause: a document, and the document that it replaces.

A clause is a heading or a number with the text up to the next one. Clauses are matched by heading, by number and by the
words that they have in common, so that a clause is found again whose number has changed. All of a text is in a clause,
so that no change is left out but of numbers and white space.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nsmallest
from itertools import pairwise
from typing import Literal

from rapidfuzz.distance import Indel, Opcodes

from core.execution.limits import check_work
from core.text.sentences import split_sentences

MOST_CHARACTERS = 500_000
"""Characters of a text that are compared; the rest is not."""
MOST_CLAUSES = 2_000
"""Clauses of a text; the last one has the rest of the text."""
_MOST_WORDS = 20_000
"""Words of a clause that are compared one by one; beyond, sentences are compared."""
_MOST_SCORED = 4_000_000
"""Words that are counted to score pairs of clauses; beyond, only equal clauses are found again."""
_NEAREST = 8
"""Clauses with the same heading, number or word that are looked at as a match."""
_ALIKE, _SAME_NUMBER = 0.5, 0.25
"""The least share of words in common, if nothing else is, and if the number is the same."""

_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]{1,8}(?P<text>[^\n]{1,300})")
_CLOSING = re.compile(r"(?<=[ \t])#{1,300}[ \t]{0,300}\Z")
"""Signs behind a heading that say nothing, unlike the sign of `C#`."""
_NUMBERED = re.compile(
    r"[ \t]{0,8}[*_]{0,3}(?:(?:article|section|clause|artikel|abschnitt|ziffer|art\.|§{1,2})[ \t\u00a0]{0,3})"
    r"(?P<named>\d{1,4}[a-z]?(?:\.\d{1,4}){0,4})(?![\w/])[.):]?[*_]{0,3}(?P<rest_of_named>[^\n]{0,300})"
    r"|[ \t]{0,8}[*_]{0,3}(?P<number>\d{1,3}(?:\.\d{1,3}){1,4}|\d{1,3}(?=[.)]))(?![\w/])[.)]?[*_]{0,3}[ \t]{1,8}"
    r"(?P<rest>[^\n]{1,300})",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+(?:[.,:/-]\w+)*")
_UNDERLINE = re.compile(r"[=~^-]{3,}[ \t]{0,8}")
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """The clauses that changed, in the order of the newer text with the clauses that it lacks in between.

    `unchanged` is how many clauses are the same but for white space and their numbers. `cut`: not all of a text was
    compared.
    """

    changes: tuple[Change, ...]
    unchanged: int
    cut: bool


def compare_texts(old: str, new: str) -> Comparison:
    """Compares two texts. Raises `LoadFailed` if nobody waits for the result any more (`core.execution.limits`)."""
    (olds, is_old_whole), (news, is_new_whole) = split_clauses(old), split_clauses(new)
    matched = match_clauses(olds, news)
    changes: list[Change] = []
    unchanged = at = 0
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
            words = tuple(_compare_words(olds[place].written, clause.written))
            changes.append(Change(old=olds[place], new=clause, words=words))
    changes += [Change(old=olds[place], new=None) for place in lacking[at:]]
    return Comparison(changes=tuple(changes), unchanged=unchanged, cut=not (is_old_whole and is_new_whole))


def split_clauses(text: str) -> tuple[list[Clause], bool]:
    """Returns the clauses of a text in order, and whether they are the whole text. What stands before the first number
    or heading is a clause without both. A heading without a text of its own is a clause, too.
    """
    clauses: list[Clause] = []
    number, heading, lines = "", "", list[str]()
    before, is_code, is_rest, is_whole = "", False, False, len(text) <= MOST_CHARACTERS

    def close() -> None:
        if heading or any(line.strip() for line in lines):
            clauses.append(Clause(number=number, heading=heading, text="\n".join(lines).strip()))

    for line, after in pairwise([*text[:MOST_CHARACTERS].splitlines(), ""]):
        is_code ^= line.lstrip().startswith("```")
        begun = None if is_code else _read_begin(line, before, after)
        if begun is None and lines and not is_code and _UNDERLINE.fullmatch(line) and _is_heading(before):
            lines.pop()
            begun = "", before.strip(), ""
        before = line if begun is None else ""
        if begun is not None and len(clauses) >= MOST_CLAUSES - 2:  # the open one, and the rest
            begun, is_rest, is_whole = None if is_rest else ("", "", line), True, False
        if begun is None:
            lines.append(line)
            continue
        close()
        number, heading, rest = begun
        lines = [rest] if rest else []
    close()
    return clauses, is_whole


def _read_begin(line: str, before: str, after: str) -> tuple[str, str, str] | None:
    """Returns the number, the heading, and the beginning of the text of a clause; None if the line begins none.

    `before` is the line before, '' if it began a clause: a number after a line that does not end a sentence belongs to
    this sentence, and so does a number before a small letter. A line with a number is a heading if its text does not go
    on in the line `after` it.
    """
    marked = _HEADING.fullmatch(line)
    written = line if marked is None else _CLOSING.sub("", marked["text"]).strip()
    found = _NUMBERED.fullmatch(written)
    if found is None:
        return None if marked is None else ("", written, "")
    number = (found["named"] or found["number"]).casefold()
    rest = (found["rest_of_named"] or found["rest"] or "").strip(" \t*_")
    if marked is None and (_goes_on(before) or rest[:1].islower() or rest.startswith(",")):
        return None
    is_alone = not after.strip() or _HEADING.fullmatch(after) is not None or _NUMBERED.fullmatch(after) is not None
    return (number, rest, "") if marked is not None or (is_alone and _is_heading(rest)) else (number, "", rest)


def _goes_on(before: str) -> bool:
    before = before.rstrip(" \t*_\"'”’»)]")
    return bool(before) and before[-1] not in ".;:!?…。"


def _is_heading(text: str) -> bool:
    text = text.strip()
    return 0 < len(text) <= _LONGEST_HEADING and not text.endswith((".", ";", ","))


def match_clauses(olds: Sequence[Clause], news: Sequence[Clause]) -> dict[int, int]:
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


def _compare_words(old: str, new: str) -> Iterator[WordChange]:
    """Yields the words that changed, with a word between two changes; sentences, or all, of a text of too many."""
    befores, afters = old.split(), new.split()
    if max(len(befores), len(afters)) > _MOST_WORDS:
        befores, afters = _list_sentences(old), _list_sentences(new)
    if max(len(befores), len(afters)) > _MOST_WORDS:
        yield WordChange(old=old, new=new)
        return
    for start, end, new_start, new_end in _join_near(Indel.opcodes(befores, afters)):
        yield WordChange(old=" ".join(befores[start:end]), new=" ".join(afters[new_start:new_end]))


def _join_near(steps: Opcodes) -> list[tuple[int, int, int, int]]:
    """Returns the ranges that differ, in both texts; ranges with one part between them are one."""
    ranges: list[tuple[int, int, int, int]] = []
    for step in steps:
        if step.tag == "equal":
            continue
        start, new_start = step.src_start, step.dest_start
        if ranges and start - ranges[-1][1] <= 1 and new_start - ranges[-1][3] <= 1:
            start, _, new_start, _ = ranges.pop()
        ranges.append((start, step.src_end, new_start, step.dest_end))
    return ranges


def _list_sentences(text: str) -> list[str]:
    return [text[start:end].strip() for start, end in split_sentences(text)]
