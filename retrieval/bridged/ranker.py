"""A trained ranker: weights of features, perhaps with trees beside them, from a file that says where it comes from."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.errors import InvalidInput, InvalidStrategy
from retrieval.bridged.evidence import Evidence
from retrieval.bridged.features import FEATURES, matrix
from retrieval.bridged.trees import Trees, read_trees

__all__ = ["SHIPPED", "Ranker", "file_of", "load_ranker", "read_ranker"]

Floats = NDArray[np.float64]

SHIPPED = ("full", "six")
"""Rankers of this package, by name: `full` has weights and trees, `six` six weights alone."""

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


@dataclass(frozen=True, kw_only=True)
class Ranker:
    """The score is z(weights · features) + z(trees), z over the candidates; without trees the first alone.

    `provenance` says what the file was trained on, under which licence, by which command, and what it gains.
    """

    features: tuple[str, ...]
    weights: Floats
    trees: Trees | None
    provenance: Mapping[str, Any]

    def score(self, features: Floats) -> Floats:
        """One score a row of `features` (n, f), to be compared within the question only."""
        linear: Floats = features @ self.weights
        return linear if self.trees is None else standardised(linear) + standardised(self.trees.score(features))

    def rank(self, evidence: Evidence) -> Floats:
        return self.score(matrix(evidence, self.features))

    def contributions(self, features: Floats) -> Floats:
        """What each feature adds to the linear score beyond its mean over the candidates, (n, f)."""
        out: Floats = (features - features.mean(axis=0)) * self.weights
        return out


def standardised(values: Floats) -> Floats:
    """With mean 0 and deviation 1; all 0 where none differs."""
    deviation = values.std() if len(values) else 0.0
    return (values - values.mean()) / deviation if deviation > 0 else np.zeros_like(values)


def load_ranker(name: str) -> Ranker:
    """A shipped ranker by name, or one of your own by its path; raises `InvalidStrategy` where it cannot be read.

    A file that has been written again is read again.
    """
    try:
        return _loaded(name, 0 if name in SHIPPED else Path(name).stat().st_mtime_ns)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidStrategy(
            f"there is no ranker {name!r}: name {' or '.join(SHIPPED)}, or a file that `hopweave train-ranker` "
            f"has written ({error})"
        ) from error


@lru_cache(maxsize=8)
def _loaded(name: str, _written: int) -> Ranker:
    package = resources.files(__package__)
    text = (package.joinpath(f"{name}.json") if name in SHIPPED else Path(name)).read_text(encoding="utf-8")
    try:
        return read_ranker(text)
    except InvalidInput as error:
        raise InvalidStrategy(f"ranker {name!r} cannot be used: {error}") from error


def read_ranker(text: str) -> Ranker:
    """Read a file's text; raises `InvalidInput` for what is not a ranker, was changed by hand, or is too new."""
    try:
        content = json.loads(text)
        claimed, version = content.pop("sha256"), content["format"]
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        raise InvalidInput("it is no ranker file; train it again") from error
    if version != _FORMAT:
        raise InvalidInput(f"it has format {version!r}, and this release reads {_FORMAT}; train it again")
    if claimed != _digest(content):
        raise InvalidInput("its content does not have the hash that it names, so it was changed; train it again")
    try:
        file = _File.model_validate(content)
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        raise InvalidInput(f"it is no ranker file, see `{place}`; train it again") from error
    unknown = [name for name in file.weights if name not in FEATURES]
    if unknown:
        raise InvalidInput(f"it weighs the feature {unknown[0]!r}, which this release does not have; train it again")
    return Ranker(
        features=tuple(file.weights),
        weights=np.array(list(file.weights.values()), np.float64),
        trees=read_trees([tree.model_dump() for tree in file.trees], len(file.weights)) if file.trees else None,
        provenance=file.provenance,
    )


def file_of(weights: Mapping[str, float], trees: list[dict[str, Any]], provenance: Mapping[str, Any]) -> str:
    """The text of a ranker's file, the same for the same content."""
    content = {"format": _FORMAT, "weights": dict(weights), "trees": trees, "provenance": dict(provenance)}
    head = {key: content[key] for key in ("format", "provenance", "weights")}
    lines = json.dumps({"sha256": _digest(content), **head}, indent=1, ensure_ascii=False)[:-2]
    rows = ",\n".join("  " + json.dumps(tree, separators=(",", ":")) for tree in trees)
    return f'{lines},\n "trees": [\n{rows}\n ]\n}}\n' if trees else f'{lines},\n "trees": []\n}}\n'


def _digest(content: Mapping[str, Any]) -> str:
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()
