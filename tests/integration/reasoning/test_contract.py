"""Every reasoner that is there runs the contract, with a scripted model that does each role's work well."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from core import strategies
from core.ports.reasoning import Reasoner
from core.ports.retrieval import Searcher
from core.strategies import StrategySpec, build
from reasoning import REASONERS
from testing.contracts.reasoner import ANSWER, QUESTION, ReasonerContract
from testing.word_search import FoundBySearch
from tests.integration.reasoning.good_model import good_model
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import ChatServer

_OPTIONS = {"extractive": {"min_probability": 0}}
"""The twin of an embedding model knows words only: sentences are farther from questions than with a real one."""


_QUESTIONS = {"survey": "Which publisher published The Outsiders?"}
"""It asks for words of passages, since nothing tells it that a publishing house publishes."""


class TestEachReasoner(ReasonerContract):
    """All with their default options, but for those of `_OPTIONS`."""

    @pytest.fixture(params=sorted(strategies.list_names(REASONERS)), autouse=True)
    async def _each(self, request: pytest.FixtureRequest, server: ChatServer) -> AsyncIterator[None]:
        server.respond = good_model(ANSWER, QUESTION)
        self.desk = ReasoningDesk(server, {})
        self.name = request.param
        self.searches = self.name != "direct"
        self.question = _QUESTIONS.get(self.name, QUESTION)
        yield
        await self.desk.models.close()

    def reasoner_over(self, searcher: Searcher) -> Reasoner:
        finder = FoundBySearch(searcher, self.question)
        backends = replace(self.desk.backends, searcher=searcher, searchers=lambda _: searcher, finder=finder)
        options = _OPTIONS.get(self.name, {})
        reasoner: Reasoner = build(REASONERS, StrategySpec(name=self.name, options=options), "reasoner", backends)
        return reasoner
