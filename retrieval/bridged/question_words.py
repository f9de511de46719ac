"""The words of a question, and how far each candidate has them.

Outside of the names that lead to it, a passage must have the words of the question. A word in the title of a document
tells it from others, and so counts for all of its passages alike.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.text.terms import MOST_REPEATED, Terms, hash_stem, split_words
from core.text.word_lists import SMALL_WORDS
from retrieval.graph.terms import Stems, TermStatistics, bm25_idf, keep_rarest
from retrieval.pagerank.name_linking import NameLink

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DOCUMENT = 3
"""Candidates of a document that make it one with passages of its own: two chunks of one abstract are none."""
_K1, _B = 1.5, 0.75
"""The usual constants of BM25."""


@dataclass(frozen=True, kw_only=True)
class QuestionTerms:
    """The stems of a question. A stem that the corpus does not have weighs 0.

    `stems` are the stems outside of linked names, ascending, with their `idf` and one `written` form of each.
    `all_stems` includes stems inside of names; `all_weight` is their idf, twice it if the question repeats the stem.
    """

    stems: Stems
    idf: NDArray[np.float64]
    written: tuple[str, ...]
    all_stems: Stems
    all_weight: NDArray[np.float64]

    @property
    def total(self) -> float:
        return float(self.idf.sum())


def extract_question_terms(
    question: str, links: Sequence[NameLink], statistics: TermStatistics, left_out: range = range(0)
) -> QuestionTerms:
    """Returns the question's words that do not begin in `left_out`; a stem that also occurs in a linked name counts as
    part of the name.
    """
    written: dict[int, str] = {}
    repeated: Counter[int] = Counter()
    named: set[int] = set()
    for word in split_words(question):
        if word.start in left_out:
            continue
        stem = hash_stem(word.stem)
        written.setdefault(stem, question[word.start : word.end])
        repeated[stem] += question[word.start : word.end].lower() not in SMALL_WORDS
        if any(link.start <= word.start and word.end <= link.end for link in links):
            named.add(stem)
    stems, idf = keep_rarest(np.array(sorted(written.keys() - named), np.uint32), statistics)
    all_stems, all_idf = keep_rarest(np.array(sorted(written), np.uint32), statistics)
    return QuestionTerms(
        stems=stems,
        idf=idf,
        written=tuple(written[stem] for stem in stems.tolist()),
        all_stems=all_stems,
        all_weight=all_idf * np.array([min(repeated[stem], MOST_REPEATED) or 1 for stem in all_stems.tolist()]),
    )


def count_stems(rows: Terms, owner: Ints, size: int, stems: Stems) -> Floats:
    """Returns how often each candidate has each of the stems (w,), which are ascending, (n, w)."""
    out = np.zeros((size, len(stems)))
    if len(stems):
        at = np.minimum(np.searchsorted(stems, rows["stem"]), len(stems) - 1)
        same = stems[at] == rows["stem"]
        out[owner[same], at[same]] = rows["count"][same]
    return out


def compute_title_overlap(
    rows: Terms, owner: Ints, size: int, question: QuestionTerms, statistics: TermStatistics
) -> Floats:
    of_title = rows["place"] & 1 > 0
    idf = bm25_idf(statistics, rows["stem"][of_title])
    asked = np.isin(rows["stem"][of_title], question.all_stems)
    whole = np.bincount(owner[of_title], idf, size)
    return np.bincount(owner[of_title], idf * asked, size) / np.where(whole > 0, whole, 1.0)


def weigh_stems(counts: Floats, weight: Floats, length: Floats, statistics: TermStatistics) -> Floats:
    """Returns what each stem adds to the BM25 of each candidate, (n, w)."""
    mean = statistics.length / max(statistics.chunks, 1)
    norm = _K1 * (1 - _B + _B * length / max(mean, 1e-9))
    weights: Floats = weight * counts * (_K1 + 1) / (counts + norm[:, None])
    return weights


def count_titles_alike(weights: Floats, titled: NDArray[np.bool_], documents: Ints) -> Floats:
    """Returns the weights of stems, (n, w), where a stem that is in the title of all candidates of a document counts
    for each as for the best of them.

    Such a word tells a document from others, and no passage from its neighbours: the name of a contract is written in
    its opening, and seldom in the clause that is asked for. `titled` (n, w) is True for stems in title or heading.
    """
    out = weights.copy()
    for document in np.flatnonzero(np.bincount(documents) >= DOCUMENT):
        of_document = np.flatnonzero(documents == document)
        shared = np.flatnonzero(titled[of_document].all(axis=0))
        out[np.ix_(of_document, shared)] = weights[np.ix_(of_document, shared)].max(axis=0)
    return out


def share_of_best(weights: Floats) -> Floats:
    """Returns the sum of each candidate's weights, (n, w) to (n,), as a share of the greatest sum."""
    scores: Floats = weights.sum(axis=1)
    best = scores.max(initial=0.0)
    return scores / best if best > 0 else scores


def compute_added(has_word: NDArray[np.bool_], sources: Ints, question: QuestionTerms) -> Floats:
    """Returns the share of the words' idf that a candidate has and a source lacks, (k, n)."""
    if question.total <= 0:
        return np.zeros((len(sources), len(has_word)))
    lacking = ~has_word[sources] * question.idf
    out: Floats = lacking @ has_word.T / question.total
    return out
