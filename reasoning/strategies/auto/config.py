"""The options of `auto`, as users write them."""

from typing import Literal

from pydantic import Field

from core.ports.retrieval import MAX_K
from core.strategies import StrategyConfig

__all__ = ["Config"]


class Config(StrategyConfig):
    """How many passages are read, and how much is spent on unsure answers."""

    searcher: str = Field(default="", description="NAME[:key=value] of the searcher; empty: the request's searcher.")
    k: int = Field(default=5, ge=1, le=MAX_K, description="Passages a step; the request's `k` takes precedence.")
    more: int = Field(
        default=5,
        ge=0,
        le=100,
        description="Further passages, and as many by the graph, for a step whose answer is unsure.",
    )
    fine: str = Field(
        default="fine",
        description="NAME[:key=value] of the searcher for unsure answers; empty: no search by the graph.",
    )
    review: bool = Field(default=True, description="Review answers that no quoted sentence holds word for word.")
    replans: int = Field(default=1, ge=0, le=3, description="How often a plan is replaced if a step found no answer.")
    retrieve: Literal["always", "adaptive"] = Field(
        default="always", description="`adaptive`: the planner may decide that no document is needed."
    )
