"""Which low-level searchers LevelRAG asks: by name, by default, and the web."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from core.corpora import Corpus
from core.errors import InvalidInput, InvalidStrategy
from core.strategies import StrategySpec, build
from reasoning import REASONERS
from tests.integration.reasoning.good_model import of_role, roles
from tests.integration.reasoning.level.replies import HOPS, PLAIN, QUESTION, comparison, concluded, enough
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import ChatServer


async def test_the_low_level_alone(desk: ReasoningDesk) -> None:
    desk.server.scripts["conclude"].append(concluded("The Outsiders [1]"))
    answer, _ = await desk.ask(f"{PLAIN},high_level=false", HOPS[1], k=2)
    assert roles(desk.server) == ["conclude"]
    assert [(name, query.text, query.k, query.private) for name, query in desk.searched] == [
        ("bridged", HOPS[1], 2, False)
    ]
    assert answer.plain == "The Outsiders"
    assert [step.id for step in answer.steps] == ["1"]
    assert len(answer.shown or ()) == len(answer.steps[0].hits) == 2


async def test_several_searchers_are_concatenated(desk: ReasoningDesk) -> None:
    comparison(desk.server, first=[HOPS[0]])
    await desk.ask("level:searchers=graph+bridged+hippo", QUESTION)
    assert sorted(name for name, _ in desk.searched) == ["bridged", "graph", "hippo"]
    shown = of_role(desk.server, "summarize")[0].text
    assert shown.count('title="Rumble Fish"') == 1, "each passage once"


def facts_of(name: str) -> Callable[[Corpus], Awaitable[bool]]:
    async def has_facts(corpus: Corpus) -> bool:
        return corpus.name == name

    return has_facts


async def test_the_graph_is_a_searcher_where_the_corpus_has_triples(desk: ReasoningDesk) -> None:
    comparison(desk.server, first=[HOPS[0]])
    spec = "level:rewrite=never,dense_rewrites=0"
    desk.backends = replace(desk.backends, has_facts=facts_of("people"))
    await desk.ask(spec, HOPS[0])
    assert {name for name, _ in desk.searched} == {"sparse", "dense", "graph"}
    desk.searched.clear()
    desk.backends = replace(desk.backends, has_facts=facts_of("other"))
    await desk.ask(spec, HOPS[0])
    assert {name for name, _ in desk.searched} == {"sparse", "dense"}
    await desk.ask("level:searchers=graph", HOPS[0])
    assert desk.searched[-1][0] == "graph", "if it is named, it is asked"


@pytest.mark.parametrize(
    ("searchers", "problem"), [("sparse++dense", "empty"), ("sparse+sparse", "twice"), ("+", "empty")]
)
async def test_a_list_of_searchers_that_is_none(desk: ReasoningDesk, searchers: str, problem: str) -> None:
    with pytest.raises(InvalidStrategy, match=problem):
        await desk.ask(f"level:searchers={searchers}", QUESTION)


def test_a_searcher_of_the_request_is_refused(desk: ReasoningDesk) -> None:
    backends = replace(desk.backends, searcher_chosen=True, searcher_name="hippo")
    with pytest.raises(InvalidStrategy, match=r"level:searchers=sparse\+hippo"):
        build(REASONERS, StrategySpec(name="level"), "reasoner", backends)


@pytest.mark.parametrize(("configured", "permitted"), [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("named", [True, False])
async def test_the_web_where_configured_and_permitted(
    server: ChatServer, *, configured: bool, permitted: bool, named: bool
) -> None:
    desk = ReasoningDesk(server, {"rumble": ("Rumble Fish", "A novel.")}, web_configured=configured)
    comparison(server, first=[HOPS[0]])
    desk.server.scripts["verify"].extend([enough(True)] * 2)
    spec = "level:searchers=bridged+web" if named else "level:rewrite=never,dense_rewrites=0"
    _, trace = await desk.ask(spec, HOPS[0], web=permitted)
    assert ("web" in {name for name, _ in desk.searched}) is (configured and permitted)
    left_out = named and not (configured and permitted)
    assert any("the web was left out" in note for note in trace.notes) is left_out
    if not named:
        assert {name for name, _ in desk.searched} - {"web"} == {"sparse", "dense"}


async def test_the_web_alone_where_it_must_not_be_asked(desk: ReasoningDesk) -> None:
    with pytest.raises(InvalidInput, match="only searcher"):
        await desk.ask("level:searchers=web", QUESTION)
    assert desk.server.calls == []
