"""What can be named as searcher, reasoner, chunker and extractor."""

from typing import Any

from fastapi import APIRouter

from api.shapes.base import Out
from app.catalogue import strategies

__all__ = ["router"]

router = APIRouter(prefix="/v1/strategies", tags=["strategies"])


class StrategyOut(Out):
    """`options` is a JSON schema."""

    name: str
    kind: str
    description: str
    options: dict[str, Any]


class StrategyListOut(Out):
    data: list[StrategyOut]
    next_cursor: None = None


@router.get("", summary="Every strategy with its options")
async def list_strategies() -> StrategyListOut:
    return StrategyListOut(data=[StrategyOut(**one) for one in strategies()])
