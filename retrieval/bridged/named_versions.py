"""The version that a question names, among documents that are versions of one another: passages of the others lose.

Reports of four quarters have the same passages but for the figures, so neither meaning nor words choose among them. The
question does: "in Q3 2022", "in version 4.6.2", "in the latest report".
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.ports.retrieval import Query
from core.text.titles import asks_for_newest, family_of, find_wanted_marks, order_of_marks
from retrieval.backends import RetrievalBackends
from retrieval.graph.snapshot import GraphSnapshot

__all__ = ["penalize_other_versions"]

Floats = NDArray[np.float64]

_LOSS = 1.0
"""What a passage loses for each mark that its document lacks and another version has, in standard deviations of the
candidates' scores.
"""


async def penalize_other_versions(
    chunks: NDArray[np.int64], query: Query, snapshot: GraphSnapshot, backends: RetrievalBackends
) -> Floats:
    """Returns what is added to the score of each candidate, (n,), 0 or less. It is 0 for all if the question names no
    version, or if no candidate is of another version.
    """
    wanted, newest = find_wanted_marks(query.text), asks_for_newest(query.text)
    if not (wanted or newest) or not len(chunks):
        return np.zeros(len(chunks))
    ids = snapshot.document_ids(chunks.tolist())
    refs = await backends.documents.get_refs(query.corpus.id, set(ids))
    named = {id: family_of(ref.key, ref.title) for id, ref in refs.items()}
    lacking = _count_lacking(named, wanted, newest=newest)
    return np.array([-_LOSS * lacking.get(id, 0) for id in ids], np.float64)


def _count_lacking(
    named: dict[str, tuple[str, frozenset[str]]], wanted: frozenset[str], *, newest: bool
) -> dict[str, int]:
    """Returns for each document how many of the wanted marks it lacks beside the best of its family.

    Where no mark is wanted that the family has, and the newest is asked for, each other version lacks one.
    """
    families = defaultdict[str, list[str]](list)
    for id, (family, _) in named.items():
        if family:
            families[family].append(id)
    lacking: dict[str, int] = {}
    for ids in families.values():
        marks = [named[id][1] for id in ids]
        has = [len(wanted & own) for own in marks]
        if newest and not max(has):
            has = _mark_newest(marks)
        lacking |= {id: max(has) - count for id, count in zip(ids, has, strict=True)}
    return lacking


def _mark_newest(marks: Sequence[frozenset[str]]) -> list[int]:
    orders = [order_of_marks(own) for own in marks]
    return [int(order == max(orders)) for order in orders]
