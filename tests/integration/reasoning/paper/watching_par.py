"""Presets over a scripted model and a small store on disk with triples: what was called, searched and shown, in order.

The tests beside this file compare it with the papers' algorithms.
"""

import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from core.corpora import Corpus, Fine
from core.events import CallEvent, SearchEvent
from core.ports.reasoning import Answer, Question
from core.ports.retrieval import Hit
from core.settings import LlmSettings
from core.strategies import build, parse_spec
from core.trace import Trace
from models import make_chat_models
from reasoning import REASONERS, ReasoningBackends
from testing.indexed_corpus import Passage
from tests.integration.reasoning.good_model import prompt_of
from tests.searching import World, open_world
from tests.twins.chat_server import Call, ChatServer

__all__ = ["Watched", "agrees", "ask", "fenced_in", "open_library", "passages_of", "titles"]

_PASSAGE = re.compile(r'<passage n="\d+" title="([^"]*)"')


@dataclass(frozen=True, kw_only=True)
class Watched:
    """An answered question. `order` are the roles of calls and the (searcher, query) of searches as they ended;
    `searches` are the hits of each search, and `calls` the requests, both in their order.
    """

    answer: Answer
    order: list[str | tuple[str, str]]
    searches: list[SearchEvent]
    calls: list[Call]

    @property
    def roles(self) -> list[str]:
        return [call.role for call in self.calls]

    @property
    def queries(self) -> list[tuple[str, str]]:
        return [(search.searcher, search.query) for search in self.searches]

    def of_role(self, role: str) -> list[Call]:
        return [call for call in self.calls if call.role == role]


@asynccontextmanager
async def open_library(folder: Path, passages: Sequence[Passage]) -> AsyncIterator[World]:
    """A corpus whose entities and facts have vectors, as the papers' stores do."""
    async with open_world(folder, fine=Fine.ON) as world:
        await world.put(passages)
        yield world


async def ask(world: World, server: ChatServer, spec: str, question: str) -> Watched:
    async def has_facts(_: Corpus) -> bool:
        return True

    server.calls.clear()
    settings = LlmSettings(base_url=server.url, model="scripted", send_metadata=True, retries=0, cache=False)
    models = make_chat_models(settings, None, None)
    backends = ReasoningBackends(
        searcher=world.searcher("bridged"),
        embedder=world.embedder,
        models=models,
        searchers=lambda spec: world.searcher(spec.name, **spec.options),
        has_facts=has_facts,
    )
    trace = Trace()
    try:
        reasoner = build(REASONERS, parse_spec(spec), "reasoner", backends)
        answer = await reasoner.answer(Question(corpus=world.corpus, text=question), trace)
    finally:
        await models.close()
    searches = [event for event in trace.events if isinstance(event, SearchEvent)]
    order: list[str | tuple[str, str]] = [
        event.action if isinstance(event, CallEvent) else (event.searcher, event.query)
        for event in trace.events
        if isinstance(event, CallEvent | SearchEvent)
    ]
    return Watched(answer=answer, order=order, searches=searches, calls=list(server.calls))


def agrees(check: Callable[[Watched], None], watched: Watched) -> bool:
    """Whether a comparison with an algorithm finds no difference."""
    try:
        check(watched)
    except AssertionError:
        return False
    return True


def passages_of(call: Call) -> list[str]:
    """The titles of the passages that a call shows, in their order."""
    return _PASSAGE.findall(prompt_of(call))


def fenced_in(call: Call, tag: str) -> list[str]:
    """The texts of all fences of this kind in a call, below its instructions."""
    return re.findall(rf"<{tag}>\n(.*?)\n</{tag}>", prompt_of(call), re.DOTALL)


def titles(hits: Sequence[Hit]) -> list[str]:
    """The titles of the documents of hits, in their order."""
    return [hit.document.title for hit in hits]
