"""The words of a question that are in no name: what a passage has to bring beside the names it is reached by."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.text.terms import hash_of, words
from retrieval.graph.term_statistics import Stems, TermStatistics
from retrieval.pagerank.name_linking import NameLink

__all__ = ["QuestionTerms", "bm25_idf", "extract_question_terms"]


_MOST = 200
"""So many stems of a question are compared, the rarest: a text that is pasted in must not cost memory."""


@dataclass(frozen=True, kw_only=True)
class QuestionTerms:
    """`stems` are those outside of linked names, ascending, with their `idf` and one `written` form of each.

    `all_stems` has those inside of names too. A stem that the corpus does not have weighs 0.
    """

    stems: Stems
    idf: NDArray[np.float64]
    written: tuple[str, ...]
    all_stems: Stems

    @property
    def total(self) -> float:
        return float(self.idf.sum())


def extract_question_terms(question: str, links: Sequence[NameLink], statistics: TermStatistics) -> QuestionTerms:
    """The question's words; a stem that also stands in a linked name counts as part of the name."""
    written: dict[int, str] = {}
    named: set[int] = set()
    for word in words(question):
        stem = hash_of(word.stem)
        written.setdefault(stem, question[word.start : word.end])
        if any(link.start <= word.start and word.end <= link.end for link in links):
            named.add(stem)
    stems = np.array(sorted(written.keys() - named), np.uint32)
    idf = bm25_idf(statistics, stems)
    if len(stems) > _MOST:
        kept = np.sort(np.argsort(-idf, kind="stable")[:_MOST])
        stems, idf = stems[kept], idf[kept]
    return QuestionTerms(
        stems=stems,
        idf=idf,
        written=tuple(written[stem] for stem in stems.tolist()),
        all_stems=np.array(sorted(written), np.uint32),
    )


def bm25_idf(statistics: TermStatistics, stems: Stems) -> NDArray[np.float64]:
    """Lucene's: ln(1 + (n - df + .5) / (df + .5)); 0 for a stem that no chunk has."""
    df = statistics.document_frequency(stems)
    return np.where(df > 0, np.log1p((statistics.chunks - df + 0.5) / (df + 0.5)), 0.0)
