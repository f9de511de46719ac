"""Versions of one document: the version that a question names goes first, and of equal passages the newest.

Reports of four quarters have the same passages but for the figures, so neither meaning nor words choose among them. The
question does: "in Q3 2022", "in version 4.6.2", "in the latest report". If it names none, a passage that two versions
have in nearly the same words is shown in the newest first.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Self

import numpy as np
from numpy.typing import NDArray

from core.documents import DocumentRef
from core.ports.retrieval import Query
from core.text.terms import Terms
from core.text.titles import asks_for_newest, family_of, find_wanted_marks, order_of_marks
from retrieval.backends import RetrievalBackends
from retrieval.graph.snapshot import GraphSnapshot

__all__ = ["Versions", "read_versions", "weigh_versions"]

Floats = NDArray[np.float64]

_LOSS = 1.0
"""What a passage loses for each mark that its document lacks and another version has, in standard deviations of the
candidates' scores.
"""
_SAME = 0.5
"""Passages of two versions say the same if they share so much of their stems, with their counts."""
_NEAR = 1.0
"""Of passages that say the same, the newest goes first if the scores are no further apart: a newer passage that lacks
what the question asks for does not displace the older one.
"""


@dataclass(frozen=True)
class Versions:
    """The candidates' documents that have another version among these: their refs, and their families' documents.

    `families` are documents' ids by family, the newest first; `marks` are by document.
    """

    refs: Mapping[str, DocumentRef] = field(default_factory=dict)
    families: Mapping[str, Sequence[str]] = field(default_factory=dict)
    marks: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def find(cls, refs: Mapping[str, DocumentRef]) -> Self:
        families, marks = defaultdict[str, list[str]](list), dict[str, frozenset[str]]()
        for id, ref in refs.items():
            family, marks[id] = family_of(ref.key, ref.title)
            if family and marks[id]:
                families[family].append(id)
        several = {
            family: sorted(ids, key=lambda one: (order_of_marks(marks[one]), one), reverse=True)
            for family, ids in families.items()
            if len({order_of_marks(marks[id]) for id in ids}) > 1
        }
        return cls(refs, several, marks)

    def beside(self, document_id: str) -> tuple[DocumentRef, ...]:
        """Returns the other versions of a document, the newest first."""
        for ids in self.families.values():
            if document_id in ids:
                return tuple(self.refs[id] for id in ids if id != document_id)
        return ()


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
    say the same exchange their scores, so that the newest has the best.
    """
    added = np.zeros(len(chunks))
    if not versions.families:
        return added
    ids = snapshot.document_ids(chunks.tolist())
    lacking = _count_lacking(versions, find_wanted_marks(query.text), newest=asks_for_newest(query.text))
    if any(lacking.values()):
        return np.array([-_LOSS * lacking.get(id, 0) for id in ids], np.float64)
    for same in _find_same(versions, ids, scores, *snapshot.terms_of(chunks)):
        newest_first = sorted(same, key=lambda place: order_of_marks(versions.marks[ids[place]]), reverse=True)
        best_first = np.sort(scores[same])[::-1] - np.arange(len(same)) * 1e-9  # equal scores are ordered by id
        added[newest_first] = best_first - scores[newest_first]
    return added


def _count_lacking(versions: Versions, wanted: frozenset[str], *, newest: bool) -> dict[str, int]:
    """Returns for each document how many of the wanted marks it lacks beside the best of its family.

    Where no mark is wanted that the family has, and the newest is asked for, each other version lacks one.
    """
    lacking: dict[str, int] = {}
    for ids in versions.families.values():
        has = [len(wanted & versions.marks[id]) for id in ids]
        if newest and not max(has):
            orders = [order_of_marks(versions.marks[id]) for id in ids]
            has = [int(order == max(orders)) for order in orders]
        lacking |= {id: max(has) - count for id, count in zip(ids, has, strict=True)}
    return lacking


def _find_same(
    versions: Versions, ids: Sequence[str], scores: Floats, rows: Terms, owner: NDArray[np.int64]
) -> Iterator[list[int]]:
    """Yields candidates that say the same in documents of one family, at most one of each document; none twice."""
    of_family = {id: family for family, members in versions.families.items() for id in members}
    places = sorted((place for place, id in enumerate(ids) if id in of_family), key=lambda place: -scores[place])
    stems = {place: rows[owner == place] for place in places}
    for _, group in groupby(
        sorted(places, key=lambda place: of_family[ids[place]]), lambda place: of_family[ids[place]]
    ):
        left = list(group)
        while left:
            first = left.pop(0)
            same = {ids[first]: first}
            for place in left:
                if scores[first] - scores[place] > _NEAR:
                    break
                if ids[place] not in same and _overlap(stems[first], stems[place]) >= _SAME:
                    same[ids[place]] = place
            left = [place for place in left if place not in same.values()]
            if len(same) > 1:
                yield list(same.values())


def _overlap(one: Terms, other: Terms) -> float:
    """Returns the share of the stems' counts that two passages have in common, from 0 to 1."""
    _, at, beside = np.intersect1d(one["stem"], other["stem"], assume_unique=True, return_indices=True)
    common = int(np.minimum(one["count"][at], other["count"][beside]).sum(dtype=np.int64))
    every = int(one["count"].sum(dtype=np.int64)) + int(other["count"].sum(dtype=np.int64)) - common
    return common / every if every else 0.0
