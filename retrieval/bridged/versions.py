"""Versions of one document: the version that a question names goes first, and of equal passages the newest.

Reports of four quarters have the same passages but for the figures, so neither meaning nor words choose among them. The
question does: "in Q3 2022", "in version 4.6.2", "in the latest report". If it names none, a passage that two versions
have in nearly the same words is shown in the newest first.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from core.documents import DocumentRef
from core.ports.retrieval import Query
from core.text.terms import Terms
from core.text.titles import (
    asks_for_newest,
    asks_for_older,
    count_met,
    family_of,
    find_numbered_names,
    find_wanted_marks,
    has_status,
    order_of_marks,
    series_of,
)
from retrieval.backends import RetrievalBackends
from retrieval.graph.snapshot import GraphSnapshot

__all__ = ["Versions", "read_versions", "weigh_versions"]

Floats = NDArray[np.float64]

_LOSS = 2.0
"""What a passage loses for each mark that its document lacks and another version has, in standard deviations of the
candidates' scores.
"""
_SAME = 0.7
"""Passages of two versions say the same if they share so much of the stems of the shorter one."""
_NEAR = 1.0
"""Of passages that say the same, the newest goes first if the scores are no further apart: a newer passage that lacks
what the question asks for does not displace the older one.
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
    """Returns the groups of several versions, the newest first. A document without a mark is none, except beside a
    draft, or a version that is called final.
    """
    several: dict[str, Sequence[str]] = {}
    for name, group in groups.items():
        ids = group if any(has_status(marks[id]) for id in group) else [id for id in group if marks[id]]
        if len({order_of_marks(marks[id]) for id in ids}) > 1:
            several[name] = sorted(ids, key=lambda one: (order_of_marks(marks[one]), one), reverse=True)
    return several


async def read_versions(
    chunks: NDArray[np.int64], query: Query, snapshot: GraphSnapshot, backends: RetrievalBackends
) -> Versions:
    """Returns which documents of the candidates are versions of one another."""
    return Versions.find(
        await backends.documents.get_refs(query.corpus.id, set(snapshot.document_ids(chunks.tolist())))
    )


def weigh_versions(
    versions: Versions, chunks: NDArray[np.int64], scores: Floats, query: Query, snapshot: GraphSnapshot
) -> Floats:
    """Returns what is added to the score of each candidate, (n,); all 0 if no two are of one family.

    If the question names a version, or asks for the newest, each passage of another one loses. Otherwise passages that
    say the same exchange their scores, so that the newest has the best; not if the question is about what was before a
    version.
    """
    added = np.zeros(len(chunks))
    if not versions.series:
        return added
    ids = snapshot.document_ids(chunks.tolist())
    lacking = _count_lacking(versions, query.text)
    deviation = max(float(scores.std()), 1.0)  # 1 without the score of rare words
    if any(lacking.values()):
        return np.array([-_LOSS * deviation * lacking.get(id, 0) for id in ids], np.float64)
    if asks_for_older(query.text):
        return added
    of_document = defaultdict[str, list[int]](list)
    for place, id in enumerate(ids):
        of_document[id].append(place)
    for members in versions.families.values():
        places = np.array([place for id in members for place in of_document[id]], np.int64)
        for same in _find_same(places, ids, scores, snapshot.terms_of(chunks[places]), _NEAR * deviation):
            newest_first = sorted(same, key=lambda place: order_of_marks(versions.marks[ids[place]]), reverse=True)
            best_first = np.sort(scores[same])[::-1] - np.arange(len(same)) * 1e-9  # equal scores are ordered by id
            added[newest_first] = best_first - scores[newest_first]
    return added


def _count_lacking(versions: Versions, question: str) -> dict[str, int]:
    """Returns for each document how many of the wanted marks it lacks beside the best of its series.

    Where no mark is wanted that the series has, and the newest is asked for, each other version lacks one.
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
    places: NDArray[np.int64], ids: Sequence[str], scores: Floats, terms: tuple[Terms, NDArray[np.int64]], near: float
) -> Iterator[list[int]]:
    """Yields candidates of one family that say the same, at most one of each document; none twice, and none with scores
    further apart than `near`.

    `terms` are the stems of the candidates at `places`.
    """
    shares = _share_stems(*terms, len(places))
    left: list[int] = np.argsort(-scores[places], kind="stable").tolist()
    while left:
        first = left.pop(0)
        same = {ids[places[first]]: first}
        for other in left:
            if scores[places[first]] - scores[places[other]] > near:
                break
            if shares[first, other] >= _SAME:
                same.setdefault(ids[places[other]], other)
        left = [other for other in left if other not in same.values()]
        if len(same) > 1:
            yield [int(places[other]) for other in same.values()]


def _share_stems(rows: Terms, owner: NDArray[np.int64], count: int) -> NDArray[np.float32]:
    """Returns for each two passages how many of the stems of the shorter one both have, (count, count), from 0 to 1."""
    stems, columns = np.unique(rows["stem"], return_inverse=True)
    has = np.zeros((count, len(stems)), np.float32)
    has[owner, columns] = 1
    common = has @ has.T
    sizes = np.diag(common)
    return np.asarray(common / np.maximum(np.minimum(sizes[:, None], sizes[None, :]), 1), np.float32)
