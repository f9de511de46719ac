"""The features that bridged ranking weighs: pure functions of the evidence, one value a candidate, greater is better.

A docstring says what a feature means; a hit's contributions show it. A feature is 0 where it has nothing to say:
without a linked name all of PageRank's are, without known words all that count words.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.bridged.evidence import PoolEvidence
from retrieval.candidates.fusion import order_by_score, scale

__all__ = ["FEATURES", "compute_features"]

Floats = NDArray[np.float64]
Feature = Callable[[PoolEvidence], Floats]

FEATURES: dict[str, Feature] = {}
"""By name, in the order of the files that weigh them."""

_TOP = 5.0
_LEAST_MASS = 1e-6
_EXPONENT = 0.25


def _feature(function: Feature) -> Feature:
    FEATURES[function.__name__] = function
    return function


def compute_features(evidence: PoolEvidence, names: Sequence[str]) -> Floats:
    """The named features, (n, features)."""
    return np.stack([FEATURES[name](evidence) for name in names], axis=1)


@_feature
def stage1_rank(e: PoolEvidence) -> Floats:
    """High in the mix of cosine, BM25 and PageRank: 5 / (5 + rank)."""
    return _TOP / (_TOP + e.place.astype(np.float64))


@_feature
def cosine(e: PoolEvidence) -> Floats:
    """The cosine of question and passage."""
    return e.cosine


@_feature
def mass_log(e: PoolEvidence) -> Floats:
    """The magnitude of PageRank from the question's names: (log10(mass + 1e-6) + 6) / 6."""
    return (np.log10(e.mass + _LEAST_MASS) + 6.0) / 6.0


@_feature
def mass_rank(e: PoolEvidence) -> Floats:
    """High by PageRank: 5 / (5 + rank)."""
    return np.where(e.mass > 0, _TOP / (_TOP + _places(e, e.mass)), 0.0)


@_feature
def mass_by_degree(e: PoolEvidence) -> Floats:
    """PageRank's mass beyond what naming many names brings: (mass / degree), scaled, ^ .25."""
    return scale(e.mass / np.maximum(e.degree, 1.0)) ** _EXPONENT


@_feature
def mass_and_words(e: PoolEvidence) -> Floats:
    """Both PageRank and the words of the question outside of names."""
    return _mass_root(e) * e.wording


@_feature
def words(e: PoolEvidence) -> Floats:
    """BM25 of the question's words outside of names, as a share of the best candidate's."""
    return e.wording


@_feature
def words_rank(e: PoolEvidence) -> Floats:
    """High by the words outside of names: 5 / (5 + rank)."""
    return np.where(e.wording > 0, _TOP / (_TOP + _places(e, e.wording)), 0.0)


@_feature
def words_covered(e: PoolEvidence) -> Floats:
    """The share of idf of the question's words outside of names that the passage has."""
    return e.has_word @ e.question.idf / e.question.total if e.question.total > 0 else np.zeros(len(e.chunks))


@_feature
def title_overlap(e: PoolEvidence) -> Floats:
    """The share of idf of the title's words that the question has."""
    return e.title_overlap


@_feature
def title_asked(e: PoolEvidence) -> Floats:
    """The title is a name that the question names: its rarity."""
    return _only(e.names.titled(np.where(e.names.linked, e.names.rarity, 0.0)[None]))


@_feature
def names_asked(e: PoolEvidence) -> Floats:
    """The share of rarity of the question's names that the passage names."""
    weight = np.where(e.names.linked, e.names.rarity, 0.0)
    return _only(e.names.total(weight[e.names.name][None])) / max(float(weight.sum()), 1e-9)


@_feature
def best_for_name(e: PoolEvidence) -> Floats:
    """Among the best, by cosine, of those that name a name of the question: rarity x 2 / (2 + rank)."""
    asked = e.names.linked[e.names.name]
    return _only(e.names.greatest(np.where(asked, e.names.rarity[e.names.name] * e.standing, 0.0)[None]))


@_feature
def bridge_title(e: PoolEvidence) -> Floats:
    """A source names the passage's title, which the question does not."""
    return e.best(e.links.title)


@_feature
def bridge_title_adds(e: PoolEvidence) -> Floats:
    """As `bridge_title`, times the question's words that the passage brings and the source lacks."""
    return e.best(e.links.title * e.added)


@_feature
def bridge_name(e: PoolEvidence) -> Floats:
    """A source and the passage share a rare name that the question does not have."""
    return e.best(e.links.shared)


@_feature
def bridge_name_adds(e: PoolEvidence) -> Floats:
    """As `bridge_name`, times the question's words that the passage brings and the source lacks."""
    return e.best(e.links.shared * e.added)


@_feature
def bridge_back(e: PoolEvidence) -> Floats:
    """The passage names a source's title."""
    return e.best(e.links.reverse)


@_feature
def bridge_many(e: PoolEvidence) -> Floats:
    """Any of many links holds: 1 - the product of what each leaves open."""
    left: Floats = np.prod(1.0 - np.clip(e.source_weight[:, None] * e.links.any, 0.0, 0.99), axis=0)
    return 1.0 - left


@_feature
def bridge_rarities(e: PoolEvidence) -> Floats:
    """How many names are shared with a source: ln(1 + the sum of rarity squared)."""
    return e.best(np.log1p(e.links.rarities))


@_feature
def bridge_standing(e: PoolEvidence) -> Floats:
    """As `bridge_name`, by how good the passage is among all that have the name."""
    return e.best(e.links.standing)


@_feature
def bridge_like_source(e: PoolEvidence) -> Floats:
    """A link, times the cosine of source and passage."""
    return e.best(e.links.any * np.maximum(e.similarity, 0.0))


@_feature
def bridge_like_question(e: PoolEvidence) -> Floats:
    """There is a link, times the scaled cosine of question and passage."""
    return e.best(np.minimum(3.0 * e.links.any, 1.0)) * _cosine_scaled(e)


@_feature
def bridge_and_words(e: PoolEvidence) -> Floats:
    """A link by title or name, times the words outside of names."""
    return np.maximum(bridge_name(e), bridge_title(e)) * e.wording


@_feature
def same_title(e: PoolEvidence) -> Floats:
    """A source has the same title."""
    titles = e.names.titles[:, 0]
    return e.best((titles[e.sources][:, None] == titles) * (titles >= 0) * e.others)


def _only(values: Floats) -> Floats:
    """The one row of (1, n)."""
    out: Floats = values[0]
    return out


def _places(e: PoolEvidence, values: Floats) -> NDArray[np.int64]:
    """Ranks from 0."""
    return np.argsort(order_by_score(e.chunks, values))


def _cosine_scaled(e: PoolEvidence) -> Floats:
    return scale(e.cosine)


def _mass_root(e: PoolEvidence) -> Floats:
    """As stage 1 has it."""
    return scale(e.mass) ** _EXPONENT
