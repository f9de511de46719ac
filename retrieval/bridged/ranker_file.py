"""Ranker files: JSON with weights, trees, provenance and a hash. Open it to change their format."""

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.errors import InvalidInput, InvalidStrategy
from retrieval.bridged.features import FEATURES
from retrieval.bridged.ranker import Ranker
from retrieval.bridged.trees import read_trees

__all__ = ["SHIPPED", "format_ranker", "load_ranker", "read_ranker"]

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
