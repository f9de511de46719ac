"""The score of `bridged`: the trained ranker as far as the graph tells something, and else words and meaning."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.ports.retrieval import Hit
from retrieval.bridged.evidence import PoolEvidence
from retrieval.bridged.features import compute_features
from retrieval.bridged.ranker import Ranker, standardise
from retrieval.candidates.fusion import scale

__all__ = ["EXACT", "add_contributions", "rank", "split_score"]

Floats = NDArray[np.float64]

_BM25, _STEMS, _NEIGHBOUR = 0.1, 0.4, 0.2
"""The weights of the plain signals; the scaled cosine has 1."""
EXACT = 16.0
"""The weight of the rare words, in standard deviations of the rest."""
_ROW_LABEL = 1.0
"""The weight of the label of a row, in the same unit."""
_DOCUMENT = 3
"""Neighbours count in documents of at least so many candidates: two chunks of one abstract are no neighbourhood."""


def rank(ranker: Ranker, evidence: PoolEvidence) -> Floats:
    """Returns one score for each candidate, (n,); scores of different questions cannot be compared."""
    return _sum_parts(split_score(ranker, evidence), len(evidence.chunks))


def split_score(ranker: Ranker, evidence: PoolEvidence) -> dict[str, Floats]:
    """Returns the parts of each candidate's score, by name, (n,); they sum to the score.

    The part of a feature of the ranker is its weighted value beyond the mean of the candidates, on the scale of the
    score. `trees` cannot be divided among features. `plain_cosine`, `plain_bm25`, `plain_stems` and `plain_neighbour`
    are the plain signals, `exact` the rare words of the question that the candidate has, and `row_label` the label of a
    row in its tables that the question says.
    """
    share = evidence.graph_share if evidence.links.any.any() else 0.0
    parts: dict[str, Floats] = {}
    if share > 0:
        parts |= _scale_parts(_split_ranker(ranker, evidence), share)
    if share < 1:
        parts |= _scale_parts(_split_plain(evidence), 1 - share)
    if evidence.row_label.any():
        parts["row_label"] = _ROW_LABEL * evidence.row_label
    return parts | {"exact": EXACT * evidence.exact}


def _split_ranker(ranker: Ranker, evidence: PoolEvidence) -> dict[str, Floats]:
    features = compute_features(evidence, ranker.features)
    linear = features @ ranker.weights
    deviation = linear.std()
    parts = ranker.contributions(features) / deviation if deviation > 0 else np.zeros_like(features)
    by_feature = dict(zip(ranker.features, parts.T, strict=True))
    return by_feature if ranker.trees is None else {**by_feature, "trees": standardise(ranker.trees.score(features))}


def _split_plain(evidence: PoolEvidence) -> dict[str, Floats]:
    """Returns the parts of the plain score, which has mean 0 and standard deviation 1 over the candidates."""
    best = evidence.bm25.max(initial=0.0)
    parts = {
        "plain_cosine": scale(evidence.cosine),
        "plain_bm25": _BM25 * (evidence.bm25 / best if best > 0 else evidence.bm25),
        "plain_stems": _STEMS * evidence.wording_all,
    }
    parts["plain_neighbour"] = _NEIGHBOUR * _best_neighbour(evidence, _sum_parts(parts, len(evidence.chunks)))
    deviation = _sum_parts(parts, len(evidence.chunks)).std() if len(evidence.chunks) else 0.0
    if deviation == 0:
        return {name: np.zeros_like(values) for name, values in parts.items()}
    return {name: (values - values.mean()) / deviation for name, values in parts.items()}


def _best_neighbour(evidence: PoolEvidence, scores: Floats) -> Floats:
    """Returns the greater score of the passages before and after each candidate in its document; 0 if neither is a
    candidate.

    A passage between two passages that fit the question often answers it: in real documents, related text stands
    together.
    """
    order = np.lexsort((evidence.positions, evidence.documents))
    documents, positions = evidence.documents[order], evidence.positions[order]
    beside = (np.diff(documents) == 0) & (np.diff(positions) == 1)
    best = np.zeros(len(order))
    if len(order) > 1:
        best[1:] = np.where(beside, scores[order][:-1], 0.0)
        best[:-1] = np.maximum(best[:-1], np.where(beside, scores[order][1:], 0.0))
    out = np.empty(len(order))
    out[order] = best
    return np.where(np.bincount(evidence.documents)[evidence.documents] >= _DOCUMENT, out, 0.0)


def _scale_parts(parts: Mapping[str, Floats], by: float) -> dict[str, Floats]:
    return {name: by * values for name, values in parts.items()}


def _sum_parts(parts: Mapping[str, Floats], size: int) -> Floats:
    out = np.zeros(size)
    for values in parts.values():
        out = out + values
    return out


def add_contributions(hits: Sequence[Hit], places: Sequence[int], parts: Mapping[str, Floats]) -> tuple[Hit, ...]:
    """Returns the hits, which are at `places` among the candidates, each with its parts."""
    return tuple(
        replace(hit, contributions={name: float(values[place]) for name, values in parts.items()})
        for hit, place in zip(hits, places, strict=True)
    )
