"""The catalogue of all strategies, with their options."""

from functools import cache
from typing import Any

import retrieval
from core.strategies import describe
from reasoning import REASONERS

_PACKAGES = {
    "searcher": retrieval.SEARCHERS,
    "reasoner": REASONERS,
    "chunker": "indexer.chunkers",
    "extractor": "indexer.extractors",
    "loader": "indexer.loaders",
}


@cache
def describe_strategies() -> list[dict[str, Any]]:
    """Returns name, kind, description and options (as JSON schema) of each strategy, ordered by kind and name."""
    return [described for kind, package in _PACKAGES.items() for described in describe(package, kind)]
