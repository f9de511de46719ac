"""The words of a question: those outside of its names, which a passage must have besides the names that lead to it, and
the labels of rows of tables that they may be.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from core.passage_context.row_labels import MOST_STEMS
from core.text.terms import hash_label, hash_stem, split_words
from retrieval.graph.terms import Stems, TermStatistics
from retrieval.pagerank.name_linking import NameLink

__all__ = ["QuestionTerms", "bm25_idf", "extract_question_terms"]


_MOST = 200
"""The greatest number of stems of a question, the rarest first, so that a pasted text does not cost memory."""

_MOST_IN_LABELS = 12
"""Words of a question that may be in labels, the rarest; they make 793 labels."""
_WHOLE = 4.0
"""The idf of words whose label has the weight 1: of one word that one passage in fifty has, or of two frequent ones."""


@dataclass(frozen=True, kw_only=True)
class QuestionTerms:
    """The stems of a question. A stem that the corpus does not have weighs 0.

    `stems` are those outside of linked names, ascending, with their `idf` and one `written` form of each. `all_stems`,
    with `all_idf`, includes those inside of names. `labels` are the labels of rows that the question may name,
    ascending, and `label_weights` their weights, from 0 to 1: the rarer the words, the greater.
    """

    stems: Stems
    idf: NDArray[np.float64]
    written: tuple[str, ...]
    all_stems: Stems
    all_idf: NDArray[np.float64]
    labels: Stems
    label_weights: NDArray[np.float64]

    @property
    def total(self) -> float:
        return float(self.idf.sum())


def extract_question_terms(question: str, links: Sequence[NameLink], statistics: TermStatistics) -> QuestionTerms:
    """Returns the question's words; a stem that also occurs in a linked name counts as part of the name."""
    written: dict[int, str] = {}
    named: set[int] = set()
    spelled: dict[int, str] = {}
    for word in split_words(question):
        stem = hash_stem(word.stem)
        written.setdefault(stem, question[word.start : word.end])
        spelled.setdefault(stem, word.stem)
        if any(link.start <= word.start and word.end <= link.end for link in links):
            named.add(stem)
    stems, idf = _keep_rarest(np.array(sorted(written.keys() - named), np.uint32), statistics)
    all_stems, all_idf = _keep_rarest(np.array(sorted(written), np.uint32), statistics)
    idf_of = dict(zip(map(spelled.__getitem__, all_stems.tolist()), all_idf.tolist(), strict=True))
    labels = _weigh_labels(idf_of)
    return QuestionTerms(
        stems=stems,
        idf=idf,
        written=tuple(written[stem] for stem in stems.tolist()),
        all_stems=all_stems,
        all_idf=all_idf,
        labels=np.array(list(labels), np.uint32),
        label_weights=np.array(list(labels.values()), np.float64),
    )


def _weigh_labels(idf: Mapping[str, float]) -> dict[int, float]:
    """Returns the labels that some of the words make, ascending, with their weights; numbers are in no label."""
    words = [stem for stem, weight in idf.items() if weight > 0 and not any(map(str.isdigit, stem))]
    words = sorted(words, key=lambda stem: (-idf[stem], stem))[:_MOST_IN_LABELS]
    found = {
        hash_label(label): min(1.0, sum(map(idf.__getitem__, label)) / _WHOLE)
        for size in range(1, MOST_STEMS + 1)
        for label in combinations(words, size)
    }
    return dict(sorted(found.items()))


def _keep_rarest(stems: Stems, statistics: TermStatistics) -> tuple[Stems, NDArray[np.float64]]:
    """Returns at most `_MOST` of the stems, ascending, with their idf."""
    idf = bm25_idf(statistics, stems)
    if len(stems) <= _MOST:
        return stems, idf
    kept = np.sort(np.argsort(-idf, kind="stable")[:_MOST])
    return stems[kept], idf[kept]


def bm25_idf(statistics: TermStatistics, stems: Stems) -> NDArray[np.float64]:
    """Returns Lucene's idf: ln(1 + (n - df + 0.5) / (df + 0.5)); 0 for a stem that no chunk has."""
    df = statistics.document_frequency(stems)
    return np.where(df > 0, np.log1p((statistics.chunks - df + 0.5) / (df + 0.5)), 0.0)
