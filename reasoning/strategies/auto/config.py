"""The options of `auto`, as users write them."""

from typing import Literal

from pydantic import Field

from core.ports.retrieval import MAX_K
from core.strategies import StrategyConfig

__all__ = ["Config"]


class Config(StrategyConfig):
    """How much is read, and how much is spent on what is unsure."""

    searcher: str = Field(default="", description="NAME[:key=value] of the searcher; empty: the request's.")
    k: int = Field(default=5, ge=1, le=MAX_K, description="Passages a step; the request's `k` goes before it.")
    more: int = Field(
        default=5, ge=0, le=100, description="Further passages, and as many by the graph, where those do not do."
    )
    fine: str = Field(default="fine", description="The searcher for a second look; empty: none by the graph.")
    review: bool = Field(default=True, description="Look again at answers that no cited passage holds word for word.")
    replans: int = Field(default=1, ge=0, le=3, description="How often a plan is mended whose step found nothing.")
    retrieve: Literal["always", "adaptive"] = Field(
        default="always", description="`adaptive`: the planner may decide that no document is needed."
    )
