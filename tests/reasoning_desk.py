"""Any reasoner over the scripted chat server and a searcher that ranks a handful of documents by shared words."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from core.ports.chat import Message
from core.ports.reasoning import Answer, Question, Unsupported
from core.ports.retrieval import Query, Reranker, Searcher
from core.settings import LlmSettings
from core.strategies import StrategySpec, build, parse_spec
from core.trace import Budget, Listener, Trace
from models import make_chat_models
from reasoning import REASONERS, ReasoningBackends
from testing.word_search import CORPUS, FoundBySearch, RecordingSearcher, hit
from tests.twins.chat_server import ChatServer
from tests.twins.embedder import TwinEmbedder

__all__ = ["CORPUS", "ReasoningDesk", "RecordingSearcher", "hit"]


class ReasoningDesk:
    """`documents` are key → (title, text), one passage each. `searched` are all queries with the searcher's name.

    The server is told each call's role, question and labels, so that `server.scripts[role]` works.
    """

    def __init__(
        self,
        server: ChatServer,
        documents: Mapping[str, tuple[str, str]],
        *,
        reranker: Reranker | None = None,
        web_configured: bool = False,
        profile: Literal["auto", "small", "large"] = "auto",
    ) -> None:
        self.server = server
        self.corpus = CORPUS
        self.searched: list[tuple[str, Query]] = []
        self.hits = {key: hit(key, title, text) for key, (title, text) in documents.items()}
        settings = LlmSettings(
            base_url=server.url,
            model="scripted",
            send_metadata=True,
            retries=0,
            cache=False,
            timeout=10,
            concurrency=32,
            profile=profile,
        )
        self.models = make_chat_models(settings, None, None)
        self.backends = ReasoningBackends(
            searcher=self._searcher("bridged"),
            embedder=TwinEmbedder(),
            models=self.models,
            reranker=reranker,
            searchers=lambda spec: self._searcher(spec.name),
            web_configured=web_configured,
        )
        self._asking = 0

    @property
    def queries(self) -> list[str]:
        """The texts that were searched for, in order."""
        return [query.text for _, query in self.searched]

    async def ask(
        self,
        strategy: str,
        text: str,
        *,
        k: int | None = None,
        documents: frozenset[str] | None = None,
        instructions: str = "",
        history: tuple[Message, ...] = (),
        web: bool = False,
        unsupported: Unsupported = Unsupported.INFER,
        budget: Budget | None = None,
        listeners: Sequence[Listener] = (),
    ) -> tuple[Answer, Trace]:
        """The answer of a strategy such as `ircot:searcher=hippo,k=2`; the connections end with the last question."""
        trace = Trace(budget=budget or Budget(), listeners=list(listeners))
        question = Question(
            corpus=self.corpus,
            text=text,
            k=k,
            documents=documents,
            instructions=instructions,
            history=history,
            web=web,
            unsupported=unsupported,
        )
        self._asking += 1
        try:
            return await self._reasoner(parse_spec(strategy), text).answer(question, trace), trace
        finally:
            self._asking -= 1
            if not self._asking:
                await self.models.close()

    def _searcher(self, name: str) -> Searcher:
        return RecordingSearcher(name, list(self.hits.values()), self.searched)

    def _reasoner(self, spec: StrategySpec, text: str) -> Any:
        finder = FoundBySearch(self._searcher("bridged"), text)
        return build(REASONERS, spec, "reasoner", replace(self.backends, finder=finder))
