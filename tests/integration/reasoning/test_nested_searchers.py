"""Searchers with several options inside an option of a reasoner, as they are written on the command line."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from core.ports.retrieval import Searcher
from core.strategies import StrategySpec
from testing.word_search import RecordingSearcher
from tests.integration.reasoning.good_model import good_model
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import ChatServer

QUESTION = "Who published The Outsiders?"


@pytest.mark.parametrize(
    "strategy",
    [
        "par:fine=[fine:damping=0.5,nearest=3],k=2",
        "vanilla:searcher=[fine:damping=0.5,nearest=3]",
        "level:searchers=sparse+[fine:damping=0.5,nearest=3]",
    ],
)
async def test_its_options_reach_the_searcher(server: ChatServer, strategy: str) -> None:
    built: dict[str, Mapping[str, Any]] = {}
    server.respond = good_model("Viking Press", QUESTION)
    desk = ReasoningDesk(server, {"outsiders": ("The Outsiders", "The Outsiders was published by Viking Press.")})

    def build(spec: StrategySpec) -> Searcher:
        built[spec.name] = spec.options
        return RecordingSearcher(spec.name, list(desk.hits.values()), desk.searched)

    desk.backends = replace(desk.backends, searchers=build)
    await desk.ask(strategy, QUESTION)
    assert built["fine"] == {"damping": 0.5, "nearest": 3}
    assert "fine" in {name for name, _ in desk.searched}
