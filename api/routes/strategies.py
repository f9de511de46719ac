"""The route that lists the strategies: searchers, reasoners, chunkers, extractors and loaders, with their options."""

from typing import Any

from fastapi import APIRouter

from api.access.scopes import READ
from api.schemas.base import Out
from app.services.catalogue import describe_strategies

__all__ = ["router"]

router = APIRouter(prefix="/v1/strategies", tags=["strategies"])


class StrategyOut(Out):
    """`options` is a JSON schema. A strategy that needs a model is refused if none is configured. `source` is the paper
    that it follows, or empty. `suffixes` are those of the files that a loader reads, and empty for all others.
    """

    name: str
    kind: str
    description: str
    options: dict[str, Any]
    needs_model: bool
    source: str
    suffixes: list[str]


class StrategyListOut(Out):
    data: list[StrategyOut]
    next_cursor: None = None


@router.get("", dependencies=[READ], summary="Every strategy with its options")
async def list_strategies() -> StrategyListOut:
    return StrategyListOut(data=[StrategyOut(**strategy) for strategy in describe_strategies()])
