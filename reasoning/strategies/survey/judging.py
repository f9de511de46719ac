"""What a passage says of the condition of a survey: it holds, the opposite holds, or code cannot decide.

The unit is a sentence or a row of a table. It is read with what it is part of: the title, the headings, the names of
its columns, and a short line above it.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from core.documents import Chunk, Span
from core.passage_context import find_headed_tables, split_units
from core.text.terms import Word, split_words
from reasoning.strategies.extractive.quoting.units import is_question
from reasoning.strategies.survey.plan import NEGATION, Comparison, Plan, Sought, read_number
from reasoning.strategies.survey.values import stems_of

READ = 20_000
"""Characters of a passage that are read; only passages that came with ready embeddings are longer."""
_NEAR = 30
"""Words of a sentence, without function words, within which the condition must stand: a clause of a contract may be a
page.
"""
_LEAST_WITHIN = 1 / 3
"""The share of the words that a unit must have itself; the others may stand in what it is part of."""
_BEFORE = 60
"""Characters before the first word in which a negation counts."""
_CLAUSE = re.compile(r"[;:.!?]\s|\b(?:and|but|provided|und|aber) (?=\w{1,20} (?:shall|may|will|must|is|are)\b)")
_LONGEST_LINE = 80
_FAR = 100.0
_NUMBER = re.compile(r"\d(?:[\d.,]{0,14}\d)?|\b[a-zA-Z]{3,9}\b")
_WORD_CHARACTERS = re.compile(r"[\W_]+")


class Verdict(IntEnum):
    """From the weakest evidence to the strongest."""

    NO = 0
    UNDECIDED = 1
    OPPOSITE = 2
    YES = 3


_BOTH = {Verdict.YES, Verdict.OPPOSITE}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The verdict on a document, and the unit of its text that it stands on, as a span of a passage. `is_disputed`: one
    unit affirms the condition, and another denies it.
    """

    verdict: Verdict
    chunk: Chunk
    span: Span
    is_disputed: bool = False

    @property
    def quote(self) -> str:
        return self.chunk.text[self.span.start : self.span.end]


@dataclass(frozen=True, slots=True)
class _Unit:
    span: Span
    text: str
    words: Sequence[Word]
    context: frozenset[str]


def judge_passages(plan: Plan, title: str, chunks: Sequence[Chunk], *, is_whole: bool = False) -> Finding:
    """Returns the verdict on a document by some of its passages, which are not empty. A unit that affirms the condition
    counts more than a unit that denies it.

    With `is_whole`, these are all passages. The document then does not match if it lacks a literal phrase or a single
    digit, for which the finder does not look.
    """
    best: tuple[Verdict, float, Chunk, Span] | None = None
    seen = set[Verdict]()
    for chunk in chunks:
        for unit in _list_units(plan, title, chunk):
            verdict, distance = _judge(plan, unit)
            seen.add(verdict)
            if best is None or (verdict, -distance) > (best[0], -best[1]):
                best = verdict, distance, chunk, unit.span
    if best is None:
        return Finding(verdict=Verdict.UNDECIDED, chunk=chunks[0], span=Span(start=0, end=len(chunks[0].text)))
    verdict = max(best[0], Verdict.UNDECIDED)
    if verdict is Verdict.YES and any(_is_denied(sought, chunks) for sought in plan.of_kind):
        verdict = Verdict.OPPOSITE
    if verdict is Verdict.UNDECIDED and is_whole and _lacks_literal(plan, [title, *(chunk.text for chunk in chunks)]):
        verdict = Verdict.NO
    return Finding(verdict=verdict, chunk=best[2], span=best[3], is_disputed=seen >= _BOTH)


def _is_denied(sought: Sought, chunks: Sequence[Chunk]) -> bool:
    """Returns whether passages say a word before the kind, such as "paid invoices", only with a negation."""
    denied: list[bool] = []
    for chunk in chunks:
        text = chunk.text[:READ]
        words = split_all_words(text)
        starts = [words[at].start for at in find_sought(sought, place_words(words))]
        denied += [NEGATION.search(text, _clause_start(text, start), start) is not None for start in starts]
    return bool(denied) and all(denied)


def _lacks_literal(plan: Plan, texts: Sequence[str]) -> bool:
    """Returns whether no text has a phrase of the plan, or one of its numbers."""
    digits = [sought for sought in plan.sought if sought.is_number]
    return not all(any(has_phrase(text, phrase) for text in texts) for phrase in plan.phrases) or not all(
        any(find_sought(sought, place_words(split_all_words(text))) for text in texts) for sought in digits
    )


def show_beginning(chunk: Chunk) -> Finding:
    """Returns the first sentence of a passage, by which a document is shown that lacks what is asked for."""
    start, end = next(iter(split_units(chunk.text[:READ])), (0, len(chunk.text)))
    return Finding(verdict=Verdict.YES, chunk=chunk, span=Span(start=start, end=end))


def list_nearest(plan: Plan, title: str, chunks: Sequence[Chunk], most: int) -> list[Finding]:
    """Returns the units of a document with the best evidence, best first, at most `most`."""
    judged = [(*_judge(plan, unit), chunk, unit) for chunk in chunks for unit in _list_units(plan, title, chunk)]
    judged.sort(key=lambda unit: (-unit[0], unit[1]))
    return [Finding(verdict=verdict, chunk=chunk, span=unit.span) for verdict, _, chunk, unit in judged[:most]]


def check_sentence(plan: Plan, title: str, chunk: Chunk, span: Span) -> Finding | None:
    """Returns the units of a passage that a model has named as evidence, at `span`; None if they have too few words of
    the condition, or say the opposite. A small model says yes to almost anything, and names a sentence beside it.
    """
    touched = [
        unit for unit in _list_units(plan, title, chunk) if unit.span.start < span.end and span.start < unit.span.end
    ]
    verdicts = {_judge(plan, unit)[0] for unit in touched}
    words = place_words([word for unit in touched for word in unit.words])
    said = sum(bool(find_sought(sought, words)) for sought in plan.sought)
    if not touched or 2 * said < len(plan.sought) - 1 or (Verdict.OPPOSITE in verdicts and Verdict.YES not in verdicts):
        return None
    named = Span(start=touched[0].span.start, end=touched[-1].span.end)
    return Finding(verdict=Verdict.YES, chunk=chunk, span=named)


def _list_units(plan: Plan, title: str, chunk: Chunk) -> Iterator[_Unit]:
    """Yields the sentences and rows that have a word of the plan; all, of a plan without words. A short line without a
    full stop is a heading of what follows.
    """
    text = chunk.text[:READ]
    tables = list(find_headed_tables(chunk.heading, text))
    heads = stems_of(f"{title}\n{chunk.heading}")
    words = split_all_words(text)
    starts = [word.start for word in words]
    wanted = {stem for sought in plan.sought for stems in sought.wording for stem in stems}
    at, above = 0, frozenset[str]()
    for start, end in split_units(text):
        while at < len(tables) and tables[at].end <= start:
            at += 1
        table = tables[at] if at < len(tables) and tables[at].start <= start else None
        unit = text[start:end]
        begin = start + len(unit) - len(unit.lstrip())
        unit = unit.strip()
        if not unit or (table is not None and start < table.body):
            continue
        own = words[bisect_left(starts, begin) : bisect_left(starts, end)]
        if not wanted or any(word.stem in wanted for word in own):
            columns = stems_of(table.header) if table is not None else frozenset[str]()
            yield _Unit(Span(start=begin, end=begin + len(unit)), unit, own, heads | columns | above)
        is_heading = len(unit) <= _LONGEST_LINE and unit[-1] not in ".!?;,"
        above = frozenset(word.stem for word in own) if is_heading else frozenset()


def _judge(plan: Plan, unit: _Unit) -> tuple[Verdict, float]:
    """Returns the verdict on a unit, and a number that is smaller for better evidence."""
    if not plan.sought:
        return _judge_without_words(plan, unit.text), 0.0
    places = place_words(unit.words)
    found = [find_sought(sought, places) for sought in plan.sought]
    missing = [
        sought
        for sought, at in zip(plan.sought, found, strict=True)
        if not at and (sought.is_number or not any(stems <= unit.context for stems in sought.wording))
    ]
    if missing:
        return Verdict.NO, float(len(missing))
    within = [at for at in found if at]
    if not within:
        return Verdict.UNDECIDED, _FAR
    first, last = _narrow(within)
    distance = float(last - first + 10 * (len(found) - len(within)))
    start, end = (place - unit.span.start for place in (places.words[first].start, places.words[last].end))
    is_sure = (
        last - first <= _NEAR
        and len(within) >= _LEAST_WITHIN * len(found)
        and not is_question(unit.text)
        and _has_pairs(plan, found)
        and all(has_phrase(unit.text, phrase) for phrase in plan.phrases)
    )
    holds = None if plan.comparison is None else _compare(plan.comparison, unit, found)
    if not is_sure or (plan.comparison is not None and holds is None):
        return Verdict.UNDECIDED, distance
    negations = 0 if plan.is_mention else len(NEGATION.findall(unit.text, _clause_start(unit.text, start), end))
    agrees = (negations % 2 == 1) == (plan.is_negated and not plan.is_mention)
    return (Verdict.YES if agrees == (holds is not False) else Verdict.OPPOSITE), distance


def _judge_without_words(plan: Plan, text: str) -> Verdict:
    """Returns the verdict of a plan that names only a kind, literal phrases, or a number."""
    if not all(has_phrase(text, phrase) for phrase in plan.phrases):
        return Verdict.NO
    return Verdict.YES if plan.comparison is None else Verdict.UNDECIDED


@dataclass(frozen=True, slots=True)
class PlacedWords:
    """The words of a unit, and the places of each stem among them."""

    words: Sequence[Word]
    of_stem: dict[str, list[int]]


_DIGIT = re.compile(r"(?<![\w.,-])\d(?![\w,-]|\.\d)")


def split_all_words(text: str) -> list[Word]:
    """Returns the words of a text, and single digits, which count something."""
    digits = [Word(start=digit.start(), end=digit.end(), stem=digit[0]) for digit in _DIGIT.finditer(text)]
    return sorted([*split_words(text), *digits], key=lambda word: word.start)


def place_words(words: Sequence[Word]) -> PlacedWords:
    of_stem: dict[str, list[int]] = {}
    for at, word in enumerate(words):
        of_stem.setdefault(word.stem, []).append(at)
    return PlacedWords(words, of_stem)


def find_sought(sought: Sought, places: PlacedWords) -> list[int]:
    """Returns where a unit has the word in one of its wordings, ascending."""
    return sorted(
        at
        for stems in sought.wording
        if all(stem in places.of_stem for stem in stems)
        for stem in stems
        for at in places.of_stem[stem]
    )


def _narrow(found: Sequence[Sequence[int]]) -> tuple[int, int]:
    """Returns the first and last place of the shortest run of words that has each of the words."""
    events = sorted((at, which) for which, places in enumerate(found) for at in places)
    last: dict[int, int] = {}
    best = (0, len(events) and events[-1][0])
    width = float("inf")
    for at, which in events:
        last[which] = at
        if len(last) == len(found) and at - min(last.values()) < width:
            best = (min(last.values()), at)
            width = best[1] - best[0]
    return best


def _has_pairs(plan: Plan, found: Sequence[Sequence[int]]) -> bool:
    return all(
        not found[pair.first]
        or not found[pair.second]
        or any(0 < two - one <= pair.distance for one in found[pair.first] for two in found[pair.second])
        for pair in plan.pairs
    )


def has_phrase(text: str, phrase: str) -> bool:
    def plain(words: str) -> str:
        return f" {_WORD_CHARACTERS.sub(' ', words.casefold()).strip()} "

    return plain(phrase) in plain(text)


def _clause_start(text: str, start: int) -> int:
    """Returns where the clause begins that a word at `start` stands in, at most some characters before it."""
    begin = max(0, start - _BEFORE)
    ends = [found.end() for found in _CLAUSE.finditer(text, begin, start)]
    return ends[-1] if ends else begin


def _compare(comparison: Comparison, unit: _Unit, found: Sequence[Sequence[int]]) -> bool | None:
    """Returns whether the comparison holds of the numbers of a unit; None if it has none, or if they differ in it."""
    said = f"{comparison.words} {comparison.number}".casefold()
    if said in " ".join(unit.text.casefold().split()):
        return True
    if comparison.is_unread:
        return None
    counted = found[comparison.counted] if comparison.counted >= 0 else None
    starts = [word.start - unit.span.start for word in unit.words]
    holds = set[bool]()
    for number in _NUMBER.finditer(unit.text):
        value = read_number(number[0])
        if value is None:
            continue
        at = bisect_left(starts, number.start())
        if counted is not None and not any(-2 <= place - at <= 4 for place in counted):
            continue
        holds.add(is_within(comparison, value))
    return holds.pop() if len(holds) == 1 else None


def is_within(comparison: Comparison, value: float) -> bool:
    least, most, strict = comparison.least, comparison.most, comparison.is_strict
    if least is not None and (value <= least if strict else value < least):
        return False
    return most is None or not (value >= most if strict else value > most)
