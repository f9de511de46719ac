"""Versions of one document: the version that a question names goes first, and of equal passages the newest.

Reports of four quarters have the same passages but for the figures, so neither meaning nor words choose among them. The
question does: "in Q3 2022", "in version 4.6.2", "in the latest report". If it names no version, the newest passage goes
first among passages in nearly the same words. So does a newer passage that has all words of the question that the older
passage has: a fault code whose remedy was changed, or a clause that an amendment replaces. If the question asks over
several versions ("How has revenue changed over time?"), these take turns.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from core.documents import DocumentRef
from core.ports.retrieval import Query
from core.text.name_spans import find_names
from core.text.periods import asks_over_periods, find_quarters, find_range, is_within
from core.text.terms import Terms, hash_stem, split_words
from core.text.titles import (
    asks_for_newest,
    asks_for_older,
    compares_with_earlier,
    count_met,
    family_of,
    find_numbered_names,
    find_wanted_marks,
    has_status,
    order_of_marks,
    series_of,
)
from core.text.word_lists import CALENDAR_WORDS, SMALL_WORDS
from retrieval.backends import RetrievalBackends
from retrieval.graph.snapshot import GraphSnapshot

Floats = NDArray[np.float64]

_LOSS = 2.0
"""What a passage loses for each mark that its document lacks and another version has, in standard deviations of the
candidates' scores.
"""
_LOSS_UNNAMED = 4.0
"""What a passage of another document loses if the lead-in names one, in the same unit: a clause of another contract
that says the same in the same words must not go before any clause of the named contract.
"""
_SHORTEST_WORD = 3
"""Letters of a word of a title that tells one family from another."""
_NUMBERED = re.compile(r"\d{1,8}[^\W\d_]{4,40}|[^\W\d_]{4,40}\d{1,8}")
"""A name with a number: `37signals`, but not `4Q22`."""
_NAMES_NOTHING = SMALL_WORDS | CALENDAR_WORDS
_SAME = 0.7
"""Passages of two versions say the same if they share so much of the stems of the shorter passage."""
_ALIKE = 0.3
"""A newer passage that has the question's words may replace an older passage if they share so much."""
_NEAR = 1.0
"""Of passages that say the same, the newest goes first if the scores are no further apart: a newer passage that lacks
what the question asks for does not displace the older passage.
"""


@dataclass(frozen=True)
class Versions:
    """The candidates' documents that have another version among these: their refs, and their families' documents.

    `families` are documents' ids by family, the newest first; `series` are documents of folders that are versions, and
    families of other documents; `marks` are by document.
    """

    refs: Mapping[str, DocumentRef] = field(default_factory=dict)
    families: Mapping[str, Sequence[str]] = field(default_factory=dict)
    series: Mapping[str, Sequence[str]] = field(default_factory=dict)
    marks: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def find(cls, refs: Mapping[str, DocumentRef]) -> Self:
        families, series = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
        marks: dict[str, frozenset[str]] = {}
        for id, ref in refs.items():
            family, marks[id] = family_of(ref.key, ref.title)
            if family:
                families[family].append(id)
                series[series_of(ref.key) or family].append(id)
        return cls(refs, _order(families, marks), _order(series, marks), marks)

    def beside(self, document_id: str) -> tuple[DocumentRef, ...]:
        """Returns the other versions of a document, the newest first."""
        for ids in self.families.values():
            if document_id in ids:
                return tuple(self.refs[id] for id in ids if id != document_id)
        return ()


def _order(groups: Mapping[str, Sequence[str]], marks: Mapping[str, frozenset[str]]) -> dict[str, Sequence[str]]:
    """Returns the groups of several versions, the newest first. A document without a mark is a version only beside a
    draft, or a version that is called final.
    """
    several: dict[str, Sequence[str]] = {}
    for name, group in groups.items():
        ids = group if any(has_status(marks[id]) for id in group) else [id for id in group if marks[id]]
        if len({order_of_marks(marks[id]) for id in ids}) > 1:
            several[name] = sorted(ids, key=lambda member: (order_of_marks(marks[member]), member), reverse=True)
    return several


async def read_versions(
    chunks: NDArray[np.int64], query: Query, snapshot: GraphSnapshot, backends: RetrievalBackends
) -> Versions:
    """Returns which documents of the candidates are versions of one another."""
    return Versions.find(
        await backends.documents.get_refs(query.corpus.id, set(snapshot.document_ids(chunks.tolist())))
    )


def weigh_versions(
    versions: Versions,
    chunks: NDArray[np.int64],
    scores: Floats,
    exact: Floats,
    query: Query,
    snapshot: GraphSnapshot,
    *,
    unnamed: Floats,
) -> Floats:
    """Returns what is added to the score of each candidate, (n,).

    `exact` (n,) is the part of the scores that is for rare words. `unnamed` (n,) is 1 for passages of documents that
    the question does not name, while its lead-in names another.

    - If the lead-in names a document, passages of other documents lose.
    - If the question names a family, passages of other families lose, unless they have the name.
    - If the question asks over several versions, and does not name each, passages of the versions exchange their
      scores, so that each version has its best passage among the first, then its second.
    - If the question compares a version with earlier versions, nothing more is added.
    - If the question names a version, or asks for the newest, passages of other versions lose.
    - If the question is about what was before a version, nothing more is added.
    - Otherwise passages that say the same exchange their scores, so that the newest has the best.
    """
    if not versions.series and not unnamed.any():
        return np.zeros(len(chunks))
    candidates = _Candidates(
        chunks=chunks,
        ids=snapshot.document_ids(chunks.tolist()),
        scores=scores,
        exact=exact,
        deviation=max(float(scores.std()), 1.0),  # 1 without the score of rare words
    )
    others = _find_other_families(versions, candidates, query.text, snapshot)
    added = -candidates.deviation * np.maximum(_LOSS * others, _LOSS_UNNAMED * unnamed)
    quarters = find_quarters(query.text)
    if asks_over_periods(query.text) and not (quarters is not None and quarters.are_named):
        return added + _take_turns(versions, candidates, added, query.text, snapshot)
    if compares_with_earlier(query.text):
        return added
    lacking = count_lacking(versions, query.text)
    if any(lacking.values()):
        counts = np.array([lacking.get(id, 0) for id in candidates.ids], np.float64)
        return np.asarray(added - _LOSS * candidates.deviation * counts)
    if asks_for_older(query.text):
        return added
    return added + _put_newest_first(versions, candidates, query.text, snapshot)


@dataclass(frozen=True, kw_only=True)
class _Candidates:
    """The candidates' chunks, the ids of their documents, their scores, the part of these for rare words, each (n,),
    and the standard deviation of the scores.
    """

    chunks: NDArray[np.int64]
    ids: Sequence[str]
    scores: Floats
    exact: Floats
    deviation: float


def _find_other_families(versions: Versions, candidates: _Candidates, question: str, snapshot: GraphSnapshot) -> Floats:
    """Returns for each candidate 1 if it is of an unnamed family (`find_unnamed`), and has no word of the names of
    another family; else 0, (n,).
    """
    others = np.zeros(len(candidates.chunks))
    titles = {
        family: frozenset.intersection(*(find_name_stems(versions.refs[id].title) for id in members))
        for family, members in versions.families.items()
    }
    families, stems = find_unnamed(titles, question)
    if not families:
        return others
    telling = np.array(sorted(map(hash_stem, stems)), np.uint32)
    unnamed = {id for family in families for id in versions.families[family]}
    places = np.array([place for place, id in enumerate(candidates.ids) if id in unnamed], np.int64)
    rows, owner = snapshot.terms_of(candidates.chunks[places])
    others[places] = 1
    others[places[np.unique(owner[np.isin(rows["stem"], telling)])]] = 0
    return others


def find_unnamed(titles: Mapping[str, frozenset[str]], question: str) -> tuple[set[str], frozenset[str]]:
    """Returns the families of which a question names nothing while it names other families, and the stems by which it
    names these; nothing if it names none. `titles` are the stems of the families' titles.

    A family whose title has as many words of the question as a named family has is not unnamed: people write "the price
    list" in small letters. Neither is a family whose title has no words that could be named.
    """
    common = frozenset.intersection(*(words for words in titles.values() if words)) if any(titles.values()) else set()
    telling = {family: words - common for family, words in titles.items() if words - common}
    asked = {stem for name in find_names(question) for stem in find_name_stems(name.form)}
    named = {family: asked & words for family, words in telling.items() if asked & words}
    if not named:
        return set(), frozenset()
    said = find_name_stems(question)
    least = min(len(said & telling[family]) for family in named)
    unnamed = {family for family, words in telling.items() if family not in named and len(said & words) < least}
    return unnamed, frozenset().union(*named.values())


def find_name_stems(name: str) -> frozenset[str]:
    """Returns the stems of the words of a name, without numbers, abbreviations of two letters, function words, and
    names of months and days. A word with a digit needs four letters: `37signals`, but not `4Q22`.
    """
    words = [(name[word.start : word.end], word.stem) for word in split_words(name)]
    return frozenset(
        stem
        for word, stem in words
        if len(word) >= _SHORTEST_WORD and (word.isalpha() or _NUMBERED.fullmatch(word))
        if word.casefold() not in _NAMES_NOTHING
    )


def _put_newest_first(versions: Versions, candidates: _Candidates, question: str, snapshot: GraphSnapshot) -> Floats:
    """Returns what is added to the scores, (n,), so that the newest of passages that say the same comes first."""
    chunks, ids, scores = candidates.chunks, candidates.ids, candidates.scores
    exact, deviation = candidates.exact, candidates.deviation
    added = np.zeros(len(chunks))
    of_document = defaultdict[str, list[int]](list)
    for place, id in enumerate(ids):
        of_document[id].append(place)
    stems = np.array(sorted({hash_stem(word.stem) for word in split_words(question)}), np.uint32)
    for members in versions.families.values():
        places = np.array([place for id in members for place in of_document[id]], np.int64)
        order = {id: order_of_marks(versions.marks[id]) for id in members}
        ranks = {mark: rank for rank, mark in enumerate(sorted(set(order.values())))}
        age = np.array([ranks[order[ids[place]]] for place in places], np.int64)
        newer = age[:, None] > age[None, :]
        rows, owner = snapshot.terms_of(chunks[places])
        shares = _share_stems(rows, owner, len(places))
        near = (shares >= _SAME) & (_gaps(scores[places]) <= _NEAR * deviation)
        covers = newer & _covers(rows, owner, len(places), stems) & _keeps_rare(exact[places])
        replaces = covers & (shares >= _ALIKE) & (_NEAR * deviation >= _gaps((scores - exact)[places]).T)
        for same in _find_same(places, ids, scores, near | replaces.T):
            newest_first = sorted(same, key=lambda place: order[ids[place]], reverse=True)
            best_first = np.sort(scores[same])[::-1] - np.arange(len(same)) * 1e-9  # equal scores are ordered by id
            added[newest_first] = best_first - scores[newest_first]
    return added


def _take_turns(
    versions: Versions, candidates: _Candidates, added: Floats, question: str, snapshot: GraphSnapshot
) -> Floats:
    """Returns what is added to the scores, (n,), so that the versions of a document that the question asks over take
    turns: behind the best passage comes of each other version the passage that is best and most like it, and so on.
    `added` (n,) is what was added before.
    """
    scores, bounds = candidates.scores + added, find_range(question)
    turns = np.zeros(len(scores))
    for members in versions.families.values():
        asked = {id for id in members if bounds is None or is_within(versions.marks[id], bounds)}
        places = np.array([place for place, id in enumerate(candidates.ids) if id in asked], np.int64)
        if not len(places):
            continue
        rows, owner = snapshot.terms_of(candidates.chunks[places])
        alike = candidates.deviation * _share_stems(rows, owner, len(places))
        owners = np.array([candidates.ids[place] for place in places])
        left, in_turn = np.ones(len(places), np.bool_), list[int]()
        while left.any():
            first = int(np.argmax(np.where(left, scores[places], -np.inf)))
            near = np.where(left, scores[places] + alike[first], -np.inf)
            best = {id: int(np.argmax(np.where(owners == id, near, -np.inf))) for id in sorted(set(owners[left]))}
            turn = [first, *sorted((at for id, at in best.items() if id != owners[first]), key=lambda at: -near[at])]
            in_turn += turn
            left[turn] = False
        turns[places[in_turn]] = np.sort(scores[places])[::-1] - scores[places[in_turn]]
    return turns


def count_lacking(versions: Versions, question: str) -> dict[str, int]:
    """Returns for each document how many wanted marks it lacks compared with the best of its series.

    If the series has no wanted mark, and the newest is asked for, each older version lacks one mark.
    """
    wanted, numbered, newest = find_wanted_marks(question), find_numbered_names(question), asks_for_newest(question)
    lacking: dict[str, int] = {}
    for name, ids in versions.series.items():
        words = set(name.strip("/").split())
        of_series = wanted | {mark for word, mark in numbered if word in words}
        met = count_met(of_series, [versions.marks[id] for id in ids])
        if newest and not max(met):
            orders = [order_of_marks(versions.marks[id]) for id in ids]
            met = [int(order == max(orders)) for order in orders]
        lacking |= {id: max(met) - count for id, count in zip(ids, met, strict=True)}
    return lacking


def _find_same(
    places: NDArray[np.int64], ids: Sequence[str], scores: Floats, says_same: NDArray[np.bool_]
) -> Iterator[list[int]]:
    """Yields candidates of one family that say the same, at most one of each document; no candidate twice.

    `says_same` (p, p) tells for each two candidates at `places` whether the second says what the first says.
    """
    left: list[int] = np.argsort(-scores[places], kind="stable").tolist()
    while left:
        first = left.pop(0)
        same = {ids[places[first]]: first}
        for other in left:
            if says_same[first, other]:
                same.setdefault(ids[places[other]], other)
        left = [other for other in left if other not in same.values()]
        if len(same) > 1:
            yield [int(places[other]) for other in same.values()]


def _gaps(scores: Floats) -> Floats:
    """Returns how much the score of each passage is above the score of each other passage, (n, n)."""
    return np.asarray(scores[:, None] - scores[None, :], np.float64)


def _covers(rows: Terms, owner: NDArray[np.int64], count: int, stems: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Returns for each two passages whether the second has stems of the question, and the first has all of these,
    (count, count). `stems` is ascending.
    """
    if not len(stems):
        return np.zeros((count, count), np.bool_)
    at = np.minimum(np.searchsorted(stems, rows["stem"]), len(stems) - 1)
    same = stems[at] == rows["stem"]
    found, columns = np.unique(at[same], return_inverse=True)
    has = np.zeros((count, len(found)), np.float32)
    has[owner[same], columns] = 1
    asked = has.max(axis=1, initial=0)[None, :] > 0
    return np.asarray(((1 - has) @ has.T == 0) & asked, np.bool_)


def _keeps_rare(exact: Floats) -> NDArray[np.bool_]:
    """Returns for each two passages whether the first has a rare word of the question, or the second has not."""
    return np.asarray((exact[:, None] > 0) | (exact[None, :] == 0), np.bool_)


def _share_stems(rows: Terms, owner: NDArray[np.int64], count: int) -> NDArray[np.float32]:
    """Returns for each two passages the share of the shorter passage's stems that both have, (count, count)."""
    stems, columns = np.unique(rows["stem"], return_inverse=True)
    has = np.zeros((count, len(stems)), np.float32)
    has[owner, columns] = 1
    common = has @ has.T
    sizes = np.diag(common)
    return np.asarray(common / np.maximum(np.minimum(sizes[:, None], sizes[None, :]), 1), np.float32)
