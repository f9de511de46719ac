"""The options of `auto`, as users write them."""

from typing import Literal

from pydantic import Field

from core.ports.retrieval import MAX_K
from core.strategies import StrategyConfig

__all__ = ["Config"]


class Config(StrategyConfig):
    """How many passages are read, and how often."""

    searcher: str = Field(default="", description="NAME[:key=value] of the searcher; empty: the request's searcher.")
    look: int = Field(
        default=6,
        ge=1,
        le=MAX_K,
        description="Passages of the first look, with the question; the request's `k` takes precedence.",
    )
    wide: int = Field(
        default=12,
        ge=1,
        le=MAX_K,
        description="The same for a question that sentences answer: an explanation, a list, a trend.",
    )
    k: int = Field(default=3, ge=1, le=MAX_K, description="Passages a step; the request's `k` takes precedence.")
    more: int = Field(
        default=3,
        ge=0,
        le=100,
        description="Further passages for a step whose answer is not stated; 0: none, and no second call.",
    )
    values: int = Field(
        default=3,
        ge=1,
        le=10,
        description="A step that needs an answer of several values is asked for each of them, at most for this many.",
    )
    retrieve: Literal["always", "adaptive"] = Field(
        default="always", description="`adaptive`: the model may decide that no document is needed."
    )
