"""Strategies that a request names: what goes too deep is refused with a message, before anything is built."""

import pytest

from api.schemas.search import parse_strategy
from core.errors import InvalidStrategy


@pytest.mark.parametrize(("opening", "closing"), [("reranked:over=[", "]"), ("reranked:over=", "")])
def test_options_that_go_too_deep_are_refused(opening: str, closing: str) -> None:
    nested = f"{opening * 1000}bridged{closing * 1000}"
    with pytest.raises(InvalidStrategy, match=r"go too deep|at most 4,000 characters"):
        parse_strategy("vanilla", {"searcher": nested}, "reasoner")
