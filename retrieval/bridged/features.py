"""The features that rankers weigh: pure functions of the evidence, one value for each candidate, greater is better.

Each docstring defines its feature; `contributions` of a hit show its effect. A feature is 0 if it does not apply: all
of PageRank without a linked name, all that count words without known words.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.bridged.evidence import PoolEvidence
from retrieval.candidates.fusion import order_by_score, scale

Floats = NDArray[np.float64]
Feature = Callable[[PoolEvidence], Floats]

FEATURES: dict[str, Feature] = {}
"""All features by name. Ranker files list their weights in this order."""

_TOP = 5.0
_LEAST_MASS = 1e-6
_EXPONENT = 0.25


def _feature(function: Feature) -> Feature:
    FEATURES[function.__name__] = function
    return function


def compute_features(evidence: PoolEvidence, names: Sequence[str]) -> Floats:
    """Returns the values of the named features, (n, features)."""
    return np.stack([FEATURES[name](evidence) for name in names], axis=1)


@_feature
def stage1_rank(e: PoolEvidence) -> Floats:
    """The rank by the fused score of cosine, BM25 and PageRank: 5 / (5 + rank)."""
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
    """The rank by PageRank: 5 / (5 + rank)."""
    return np.where(e.mass > 0, _TOP / (_TOP + _ranks(e, e.mass)), 0.0)


@_feature
def mass_by_degree(e: PoolEvidence) -> Floats:
    """PageRank mass beyond what many mentions give: (mass / degree), scaled, to the power 0.25."""
    return scale(e.mass / np.maximum(e.degree, 1.0)) ** _EXPONENT


@_feature
def mass_and_words(e: PoolEvidence) -> Floats:
    """PageRank times the question's words outside of names."""
    return _scaled_mass(e) * e.wording


@_feature
def words(e: PoolEvidence) -> Floats:
    """BM25 of the question's words outside of names, as a share of the best candidate's."""
    return e.wording


@_feature
def words_rank(e: PoolEvidence) -> Floats:
    """The rank by the words outside of names: 5 / (5 + rank)."""
    return np.where(e.wording > 0, _TOP / (_TOP + _ranks(e, e.wording)), 0.0)


@_feature
def words_covered(e: PoolEvidence) -> Floats:
    """The share of the idf of the question's words outside of names that the passage has."""
    return e.has_word @ e.question.idf / e.question.total if e.question.total > 0 else np.zeros(len(e.chunks))


@_feature
def title_overlap(e: PoolEvidence) -> Floats:
    """The share of the idf of the title's words that the question has."""
    return e.title_overlap


@_feature
def title_asked(e: PoolEvidence) -> Floats:
    """The rarity of the title, if it is a name that the question names."""
    return _squeeze(e.names.max_over_titles(np.where(e.names.linked, e.names.rarity, 0.0)[None]))


@_feature
def names_asked(e: PoolEvidence) -> Floats:
    """The share of the rarity of the question's names that the passage names."""
    weight = np.where(e.names.linked, e.names.rarity, 0.0)
    return _squeeze(e.names.sum_over_mentions(weight[e.names.name][None])) / max(float(weight.sum()), 1e-9)


@_feature
def best_for_name(e: PoolEvidence) -> Floats:
    """The rank by cosine among the passages that have a name of the question: rarity x 2 / (2 + rank)."""
    asked = e.names.linked[e.names.name]
    return _squeeze(e.names.max_over_mentions(np.where(asked, e.names.rarity[e.names.name] * e.standing, 0.0)[None]))


@_feature
def bridge_title(e: PoolEvidence) -> Floats:
    """A source names the passage's title, which the question does not name."""
    return e.best(e.links.title)


@_feature
def bridge_title_adds(e: PoolEvidence) -> Floats:
    """`bridge_title` times the share of the question's words that the passage has and the source lacks."""
    return e.best(e.links.title * e.added)


@_feature
def bridge_name(e: PoolEvidence) -> Floats:
    """A source and the passage share a rare name that the question does not have."""
    return e.best(e.links.shared)


@_feature
def bridge_name_adds(e: PoolEvidence) -> Floats:
    """`bridge_name` times the share of the question's words that the passage has and the source lacks."""
    return e.best(e.links.shared * e.added)


@_feature
def bridge_back(e: PoolEvidence) -> Floats:
    """The passage names a source's title."""
    return e.best(e.links.reverse)


@_feature
def bridge_many(e: PoolEvidence) -> Floats:
    """Any of several links holds: 1 - the product of (1 - link) over the sources."""
    left: Floats = np.prod(1.0 - np.clip(e.source_weight[:, None] * e.links.any, 0.0, 0.99), axis=0)
    return 1.0 - left


@_feature
def bridge_rarities(e: PoolEvidence) -> Floats:
    """The number of names that are shared with a source: ln(1 + the sum of squared rarities)."""
    return e.best(np.log1p(e.links.rarities))


@_feature
def bridge_standing(e: PoolEvidence) -> Floats:
    """`bridge_name` by the passage's rank among all that have the name."""
    return e.best(e.links.standing)


@_feature
def bridge_like_source(e: PoolEvidence) -> Floats:
    """A link times the cosine of source and passage."""
    return e.best(e.links.any * np.maximum(e.similarity, 0.0))


@_feature
def bridge_like_question(e: PoolEvidence) -> Floats:
    """Whether there is a link, times the scaled cosine of question and passage."""
    return e.best(np.minimum(3.0 * e.links.any, 1.0)) * _scaled_cosine(e)


@_feature
def bridge_and_words(e: PoolEvidence) -> Floats:
    """A link by title or name, times the words outside of names."""
    return np.maximum(bridge_name(e), bridge_title(e)) * e.wording


@_feature
def same_title(e: PoolEvidence) -> Floats:
    """A source has the same title."""
    titles = e.names.titles[:, 0]
    return e.best((titles[e.sources][:, None] == titles) * (titles >= 0) * e.others)


def _squeeze(values: Floats) -> Floats:
    """Returns the one row of (1, n)."""
    out: Floats = values[0]
    return out


def _ranks(e: PoolEvidence, values: Floats) -> NDArray[np.int64]:
    """Returns ranks from 0."""
    return np.argsort(order_by_score(e.chunks, values))


def _scaled_cosine(e: PoolEvidence) -> Floats:
    return scale(e.cosine)


def _scaled_mass(e: PoolEvidence) -> Floats:
    """Returns PageRank mass as stage 1 scales it."""
    return scale(e.mass) ** _EXPONENT
