"""Labels of the rows of tables that a question says, and the passages that have them.

Prose repeats the words of a question, so that neither meaning nor words find a balance sheet of thirty rows, of which
one is asked for. Labels are among the terms of a passage (`core.text.terms`), whole and by their words; they are looked
for in the documents in which the other signals have found something.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Self

import numpy as np
from numpy.typing import NDArray

from core.passage_context.other_words import find_said_labels
from core.passage_context.row_labels import MOST_STEMS
from core.text.terms import HAS_LABELS, Terms, hash_label, hash_stem, split_words
from retrieval.graph.snapshot import GraphSnapshot
from retrieval.graph.terms import Stems, TermStatistics, bm25_idf, keep_rarest

_MOST_WORDS = 12
"""Words of a question that may be in labels, the rarest; they make 793 labels."""
_WHOLE = 4.0
"""The idf of what has the weight 1: one passage in fifty has it."""
_MOST_LABELS = 64
"""Labels of a passage with their full weight. With more, each weighs less: no passage is to be found by all labels."""
_MOST_FOUND = 100
"""Passages that labels add to the candidates, as many as each other signal adds."""
_MOST_DOCUMENTS, _MOST_READ = 64, 2048
"""Documents that are looked into, and their passages whose terms are read, in some milliseconds."""
_ONE_BY_ONE = 8
"""Documents whose passages are listed one by one; listing takes as long as the corpus has passages."""

Numbers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Weighted:
    """Hashes of labels or of stems that the corpus has, ascending, each with a weight from 0 to 1: the fewer passages
    have it, the greater.
    """

    hashes: Stems
    weights: NDArray[np.float64]

    @classmethod
    def make(cls, hashes: Iterable[int], statistics: TermStatistics) -> Self:
        ascending = np.array(sorted(set(hashes)), np.uint32)
        idf = bm25_idf(statistics, ascending)
        return cls(hashes=ascending[idf > 0], weights=np.minimum(1.0, idf[idf > 0] / _WHOLE))

    def look_up(self, stems: Stems) -> NDArray[np.float64]:
        """Returns the weight of each of the stems, 0 if it is none of the hashes."""
        if not len(self.hashes):
            return np.zeros(len(stems))
        at = np.minimum(np.searchsorted(self.hashes, stems), len(self.hashes) - 1)
        return np.where(self.hashes[at] == stems, self.weights[at], 0.0)


@dataclass(frozen=True, kw_only=True)
class RowLabels:
    """The labels of rows that a question may name, whole, and the words of the question that labels may have."""

    whole: Weighted
    words: Weighted


NO_LABELS = RowLabels(
    whole=Weighted(hashes=np.zeros(0, np.uint32), weights=np.zeros(0)),
    words=Weighted(hashes=np.zeros(0, np.uint32), weights=np.zeros(0)),
)


def read_labels(question: str, statistics: TermStatistics) -> RowLabels:
    """Returns the labels that some of the question's words make, or that say the same as its words; without numbers."""
    spelled = {hash_stem(word.stem): word.stem for word in split_words(question)}
    stems, idf = keep_rarest(np.array(sorted(spelled), np.uint32), statistics)
    weights = dict(zip(map(spelled.__getitem__, stems.tolist()), idf.tolist(), strict=True))
    words = [stem for stem, weight in weights.items() if weight > 0 and not any(map(str.isdigit, stem))]
    rarest = sorted(words, key=lambda stem: (-weights[stem], stem))[:_MOST_WORDS]
    labels = {frozenset(label) for size in range(1, MOST_STEMS + 1) for label in combinations(rarest, size)}
    return RowLabels(
        whole=Weighted.make(map(hash_label, labels | find_said_labels(question)), statistics),
        words=Weighted.make(map(hash_stem, rarest), statistics),
    )


def weigh_labels(labels: RowLabels, rows: Terms, owner: Numbers, size: int) -> NDArray[np.float64]:
    """Returns the weight of the best label of each of `size` passages, (size,); 0 without a label.

    `rows` are the terms of the passages, and `owner` tells the passage of each term. A label that the question says
    whole has its weight. Of another label, each word that the question says has its weight, divided by the number of
    the label's words.
    """
    labelled = np.flatnonzero((rows["place"] > 1) | (rows["count"] == 0))
    rows, owner = rows[labelled], owner[labelled]
    is_label = rows["count"] == 0
    lengths = np.maximum(rows["place"] >> 1, 1)
    weights = np.where(is_label, labels.whole.look_up(rows["stem"]), labels.words.look_up(rows["stem"]) / lengths)
    said = np.flatnonzero(weights)
    out = np.zeros(size)
    np.maximum.at(out, owner[said], weights[said])
    return out * np.minimum(1.0, _MOST_LABELS / np.maximum(np.bincount(owner[is_label], minlength=size), 1))


def find_labelled(question: str, chunks: Numbers, snapshot: GraphSnapshot) -> tuple[RowLabels, Numbers]:
    """Returns the labels that the question may name, and the passages with the best of them, ascending, in the
    documents of the candidates `chunks`; without candidates, at most `_MOST_FOUND`.

    Documents with the most candidates are looked into first. Of a document of more than `_MOST_READ` passages, only so
    many are read.
    """
    labels = read_labels(question, snapshot.statistics)
    has_labels = snapshot.statistics.document_frequency(np.array([HAS_LABELS], np.uint32))[0] > 0
    if not len(chunks) or not (has_labels or len(labels.whole.hashes)):
        return labels, np.zeros(0, np.int64)
    others = _list_others(chunks, snapshot)
    rows, owner = snapshot.terms_of(others)
    weights = weigh_labels(labels, rows, owner, len(others))
    best = np.argsort(-weights, kind="stable")[:_MOST_FOUND]
    return labels, np.sort(others[best[weights[best] > 0]])


def _list_others(chunks: Numbers, snapshot: GraphSnapshot) -> Numbers:
    """Returns the passages, without `chunks`, of the documents of `chunks`, those with the most of these first."""
    counts = Counter(snapshot.document_ids(chunks.tolist()))
    documents = [id for id, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))][:_MOST_DOCUMENTS]
    groups = [[id] for id in documents[:_ONE_BY_ONE]] + [documents[_ONE_BY_ONE:]]
    listed = [np.zeros(0, np.int64)]
    for group in groups:
        if group and sum(map(len, listed)) < _MOST_READ:
            listed.append(np.setdiff1d(snapshot.chunks_of_documents(group), chunks))
    return np.concatenate(listed)[:_MOST_READ]
