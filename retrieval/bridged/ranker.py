"""The trained ranker and its file, and the score of `bridged`.

The ranker is a linear score of features, optionally with gradient-boosted trees, which are evaluated here without the
library that trained them. Its file is JSON with weights, trees, provenance and a hash. The score follows the ranker as
far as the graph tells something, and else words and meaning.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.errors import InvalidInput, InvalidStrategy
from core.execution.jit import JitFunction
from core.ports.retrieval import Hit
from retrieval.bridged.evidence import PoolEvidence
from retrieval.bridged.features import FEATURES, compute_features
from retrieval.bridged.question_words import DOCUMENT
from retrieval.candidates.fusion import scale

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class Trees:
    """The nodes of all trees in one array each.

    A candidate starts at each of `roots`. At a node it goes to `left` if its `feature` is at most `threshold`, else to
    `right`. A negative child is a leaf with the value `leaves[-1 - child]`.
    """

    roots: Ints
    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    leaves: Floats

    def score(self, features: Floats) -> Floats:
        """Returns the probability that each row of `features` (n, f) supports its question: the sigmoid of the leaves'
        sum.
        """
        sums = _compute_sums(self, features) if _KERNEL.is_compiled else _compute_sums_uncompiled(self, features)
        out: Floats = 1.0 / (1.0 + np.exp(-sums))
        return out


def warm() -> None:
    """Compiles the kernel now, or loads it from numba's cache: for processes that answer more than a few questions."""
    _KERNEL()


def read_trees(rows: Sequence[Mapping[str, Any]], features: int) -> Trees:
    """Returns the trees of a file, each with the lists `feature`, `threshold`, `left`, `right` and `leaf`.

    Children are numbered within their tree. Raises `InvalidInput` for a tree with a cycle, or a tree that refers to a
    node or feature that does not exist.
    """
    roots, nodes, leaves = [], 0, 0
    columns: dict[str, list[Any]] = {"feature": [], "threshold": [], "left": [], "right": [], "leaf": []}
    for number, row in enumerate(rows):
        _check(row, number, features)
        splits = len(row["feature"])
        roots.append(nodes if splits else -1 - leaves)
        for side in ("left", "right"):
            columns[side] += [child + nodes if child >= 0 else child - leaves for child in row[side]]
        for name in ("feature", "threshold", "leaf"):
            columns[name] += row[name]
        nodes, leaves = nodes + splits, leaves + len(row["leaf"])
    return Trees(
        roots=np.array(roots, np.int32),
        feature=np.array(columns["feature"], np.int32),
        threshold=np.array(columns["threshold"], np.float64),
        left=np.array(columns["left"], np.int32),
        right=np.array(columns["right"], np.int32),
        leaves=np.array(columns["leaf"], np.float64),
    )


def _check(row: Mapping[str, Any], number: int, features: int) -> None:
    splits = len(row["feature"])
    if {len(row[name]) for name in ("threshold", "left", "right")} - {splits} or len(row["leaf"]) != splits + 1:
        raise InvalidInput(f"tree {number} of the ranker is damaged: its lists differ in length")
    if any(not 0 <= feature < features for feature in row["feature"]):
        raise InvalidInput(f"tree {number} of the ranker is damaged: it asks for a feature that is not there")
    for node, children in enumerate(zip(row["left"], row["right"], strict=True)):
        if any(not node < child < splits if child >= 0 else -child > splits + 1 for child in children):
            raise InvalidInput(f"tree {number} of the ranker is damaged: node {node} leads nowhere")


def _compute_sums(trees: Trees, features: Floats) -> Floats:
    sums = np.zeros(len(features))
    _KERNEL()(
        np.ascontiguousarray(features), trees.roots, trees.feature, trees.threshold,
        trees.left, trees.right, trees.leaves, sums,
    )  # fmt: skip
    return sums


def _compute_sums_uncompiled(trees: Trees, features: Floats) -> Floats:
    """Returns the same sums to the last bit, without numba; all candidates descend all trees together."""
    if not len(trees.roots):
        return np.zeros(len(features))
    row = np.arange(len(features))[:, None]
    node = np.repeat(trees.roots[None, :], len(features), axis=0)
    while (inner := node >= 0).any():
        at = np.maximum(node, 0)
        to_left = features[row, trees.feature[at]] <= trees.threshold[at]
        node = np.where(inner, np.where(to_left, trees.left[at], trees.right[at]), node)
    # A cumulative sum adds in the order of the trees, as the kernel does; `sum` would add in pairs.
    sums: Floats = np.cumsum(trees.leaves[-1 - node], axis=1)[:, -1]
    return sums


def _add_leaves(  # noqa: PLR0917 - compiled: plain arrays are what the compiler takes
    rows: Any, roots: Any, feature: Any, threshold: Any, left: Any, right: Any, leaves: Any, sums: Any
) -> None:
    for i in range(rows.shape[0]):
        total = 0.0
        for root in roots:
            node = root
            while node >= 0:
                node = left[node] if rows[i, feature[node]] <= threshold[node] else right[node]
            total += leaves[-1 - node]
        sums[i] = total


def _signature(types: Any) -> Any:
    floats, int32s = types.Array(types.float64, 1, "C"), types.Array(types.int32, 1, "C")
    rows = types.Array(types.float64, 2, "C")
    return types.void(rows, int32s, int32s, floats, int32s, int32s, floats, floats)


_KERNEL = JitFunction(_add_leaves, _signature)


@dataclass(frozen=True, kw_only=True)
class Ranker:
    """A ranker with the score z(weights · features) + z(trees), z over the candidates; without trees, the first term.

    `provenance` says what the file was trained on, under which licence, by which command, and what it gains.
    """

    features: tuple[str, ...]
    weights: Floats
    trees: Trees | None
    provenance: Mapping[str, Any]

    def score(self, features: Floats) -> Floats:
        """Returns one score for each row of `features` (n, f); scores of different questions cannot be compared."""
        linear: Floats = features @ self.weights
        return linear if self.trees is None else standardise(linear) + standardise(self.trees.score(features))

    def rank(self, evidence: PoolEvidence) -> Floats:
        """Returns one score for each candidate."""
        return self.score(compute_features(evidence, self.features))

    def contributions(self, features: Floats) -> Floats:
        """Returns what each feature adds to the linear score beyond its mean over the candidates, (n, f)."""
        out: Floats = (features - features.mean(axis=0)) * self.weights
        return out


def standardise(values: Floats) -> Floats:
    """Returns the values with mean 0 and standard deviation 1; all 0 if no two differ."""
    deviation = values.std() if len(values) else 0.0
    return (values - values.mean()) / deviation if deviation > 0 else np.zeros_like(values)


SHIPPED = ("full", "six")
"""Rankers of this package, by name: `full` has weights and trees, `six` has six weights alone."""

_FORMAT = 1

_Number = Annotated[float, Field(allow_inf_nan=False)]


class _Tree(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    feature: list[int]
    threshold: list[_Number]
    left: list[int]
    right: list[int]
    leaf: list[_Number]


class _File(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    format: int
    weights: Annotated[dict[str, _Number], Field(min_length=1)]
    trees: list[_Tree]
    provenance: dict[str, Any]


def load_ranker(name: str) -> Ranker:
    """Returns a shipped ranker by name, or another by its path; raises `InvalidStrategy` if it cannot be read.

    A file is read again after it has been modified.
    """
    try:
        return _load(name, 0 if name in SHIPPED else Path(name).stat().st_mtime_ns)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidStrategy(
            f"there is no ranker {name!r}: name {' or '.join(SHIPPED)}, or the path of a file that "
            f"`hopweave train-ranker` wrote ({error})"
        ) from error


@lru_cache(maxsize=8)
def _load(name: str, _written: int) -> Ranker:
    package = resources.files(__package__)
    text = (package.joinpath(f"{name}.json") if name in SHIPPED else Path(name)).read_text(encoding="utf-8")
    try:
        return read_ranker(text)
    except InvalidInput as error:
        raise InvalidStrategy(f"ranker {name!r} cannot be used: {error}") from error


def read_ranker(text: str) -> Ranker:
    """Returns the ranker of a file's text.

    Raises `InvalidInput` if the text is not a ranker, was edited, or has another format.
    """
    try:
        content = json.loads(text)
        claimed, version = content.pop("sha256"), content["format"]
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        raise InvalidInput("it is not a ranker file; train it again") from error
    if version != _FORMAT:
        raise InvalidInput(f"it has format {version!r}, and this release reads {_FORMAT}; train it again")
    if claimed != _digest(content):
        raise InvalidInput("its content does not match its hash, so it was edited; train it again")
    try:
        file = _File.model_validate(content)
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        raise InvalidInput(f"it is not a ranker file, see `{place}`; train it again") from error
    unknown = [name for name in file.weights if name not in FEATURES]
    if unknown:
        raise InvalidInput(f"it weighs the feature {unknown[0]!r}, which this release does not have; train it again")
    return Ranker(
        features=tuple(file.weights),
        weights=np.array(list(file.weights.values()), np.float64),
        trees=read_trees([tree.model_dump() for tree in file.trees], len(file.weights)) if file.trees else None,
        provenance=file.provenance,
    )


def format_ranker(weights: Mapping[str, float], trees: list[dict[str, Any]], provenance: Mapping[str, Any]) -> str:
    """Returns the text of a ranker's file, the same for the same content."""
    content = {"format": _FORMAT, "weights": dict(weights), "trees": trees, "provenance": dict(provenance)}
    head = {key: content[key] for key in ("format", "provenance", "weights")}
    lines = json.dumps({"sha256": _digest(content), **head}, indent=1, ensure_ascii=False)[:-2]
    rows = ",\n".join("  " + json.dumps(tree, separators=(",", ":")) for tree in trees)
    return f'{lines},\n "trees": [\n{rows}\n ]\n}}\n' if trees else f'{lines},\n "trees": []\n}}\n'


def _digest(content: Mapping[str, Any]) -> str:
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


_BM25, _STEMS, _NEIGHBOUR = 0.1, 0.4, 0.2
"""The weights of the plain signals; the scaled cosine has 1."""
EXACT = 16.0
"""The weight of the rare words, in standard deviations of the rest."""
_ROW_LABEL = 2.0
"""The weight of the label of a row, in the same unit."""


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
    return np.where(np.bincount(evidence.documents)[evidence.documents] >= DOCUMENT, out, 0.0)


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
