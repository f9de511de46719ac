"""The words of a question outside of its names: what a passage must have besides the names that lead to it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.text.terms import hash_stem, split_words
from retrieval.graph.terms import Stems, TermStatistics
from retrieval.pagerank.name_linking import NameLink

__all__ = ["QuestionTerms", "bm25_idf", "extract_question_terms"]


_MOST = 200
"""The greatest number of stems of a question, the rarest first, so that a pasted text does not cost memory."""


@dataclass(frozen=True, kw_only=True)
class QuestionTerms:
    """The stems of a question. A stem that the corpus does not have weighs 0.

    `stems` are those outside of linked names, ascending, with their `idf` and one `written` form of each. `all_stems`,
    with `all_idf`, includes those inside of names.
    """

    stems: Stems
    idf: NDArray[np.float64]
    written: tuple[str, ...]
    all_stems: Stems
    all_idf: NDArray[np.float64]

    @property
    def total(self) -> float:
        return float(self.idf.sum())


def extract_question_terms(question: str, links: Sequence[NameLink], statistics: TermStatistics) -> QuestionTerms:
    """Returns the question's words; a stem that also occurs in a linked name counts as part of the name."""
    written: dict[int, str] = {}
    named: set[int] = set()
    for word in split_words(question):
        stem = hash_stem(word.stem)
        written.setdefault(stem, question[word.start : word.end])
        if any(link.start <= word.start and word.end <= link.end for link in links):
            named.add(stem)
    stems, idf = _keep_rarest(np.array(sorted(written.keys() - named), np.uint32), statistics)
    all_stems, all_idf = _keep_rarest(np.array(sorted(written), np.uint32), statistics)
    return QuestionTerms(
        stems=stems,
        idf=idf,
        written=tuple(written[stem] for stem in stems.tolist()),
        all_stems=all_stems,
        all_idf=all_idf,
    )


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
