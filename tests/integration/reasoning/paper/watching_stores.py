"""What a preset does over real stores: its searches and its calls of the scripted endpoint, in the order they ended."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.events import CallEvent, SearchEvent
from core.ports.reasoning import Answer, Question
from core.ports.retrieval import Query
from core.settings import LlmSettings
from core.strategies import build, parse_spec
from core.trace import Budget, Trace
from models import make_chat_models
from reasoning import REASONERS, ReasoningBackends
from tests.searching import World
from tests.twins.chat_server import Call, ChatServer

__all__ = ["Act", "Watched", "ask_and_watch", "keys_of", "retrieve", "step_of"]

_LONE_WORD = re.compile(r'"(\w++)"')


@dataclass(frozen=True)
class Act:
    """A search, or a call of the model. `what` is the searcher's name or the call's role.

    `text` is the query of a search, and the question that a call is about. `keys` are the documents that the search
    found or the call was shown, in their order.
    """

    what: str
    text: str
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Watched:
    """An answer, and what was done for it. `acts` has searches and calls in one order only if none ran side by side."""

    answer: Answer
    acts: list[Act]
    calls: list[Call]
    notes: list[str]

    @property
    def searches(self) -> list[Act]:
        return [act for act in self.acts if act.what in {"sparse", "dense", "web"}]

    def of_role(self, *roles: str) -> list[Call]:
        return [call for call in self.calls if call.role in roles]


def keys_of(call: Call) -> tuple[str, ...]:
    """The documents whose passages a call was shown."""
    return tuple(call.labels.get("passages", "").split())


def step_of(call: Call) -> str:
    """The id of the step that a call belongs to, or ''."""
    return call.labels.get("step", "")


def without_lone_quotes(query: str) -> str:
    """A keyword of one word means the same with and without quotes."""
    return _LONE_WORD.sub(r"\1", query)


async def retrieve(world: World, searcher: str, text: str, k: int) -> tuple[str, ...]:
    """The documents that a searcher finds, asked directly."""
    spec = parse_spec(searcher)
    found = await world.searcher(spec.name, **spec.options).search(
        Query(corpus=world.corpus, text=text, k=k, web=True, private=False), Trace()
    )
    return tuple(hit.document.key for hit in found.hits)


async def ask_and_watch(
    world: World, server: ChatServer, spec: str, question: str, *, web: bool = False, budget: Budget | None = None
) -> Watched:
    """Asks a reasoner such as `level:preset=paper` over the stores of the world."""
    settings = LlmSettings(base_url=server.url, model="scripted", send_metadata=True, retries=0, cache=False)
    models = make_chat_models(settings, None, None)
    backends = ReasoningBackends(
        searcher=world.searcher("bridged"),
        embedder=world.embedder,
        models=models,
        searchers=lambda spec: world.searcher(spec.name, **spec.options),
        web_configured=world.backends.web is not None,
    )
    trace = Trace(budget=budget or Budget())
    began = len(server.calls)
    try:
        reasoner = build(REASONERS, parse_spec(spec), "reasoner", backends)
        answer = await reasoner.answer(Question(corpus=world.corpus, text=question, web=web), trace)
    finally:
        await models.close()
    calls = server.calls[began:]
    return Watched(answer=answer, acts=_merge(trace, calls), calls=calls, notes=trace.notes)


def _merge(trace: Trace, calls: Sequence[Call]) -> list[Act]:
    waiting = list(calls)
    acts = []
    for event in trace.events:
        if isinstance(event, SearchEvent):
            keys = tuple(hit.document.key for hit in event.hits)
            acts.append(Act(event.searcher, without_lone_quotes(event.query), keys))
        elif isinstance(event, CallEvent):
            call = next(one for one in waiting if (one.role, step_of(one)) == (event.action, event.step))
            waiting.remove(call)
            acts.append(Act(call.role, call.question, keys_of(call)))
    return acts
