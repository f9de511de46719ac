"""LevelRAG over the real text index and the real web searcher: its queries mean what they say, and what leaves."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.events import SearchEvent
from core.ports.reasoning import Answer, Question
from core.settings import LlmSettings
from core.strategies import build, parse_spec
from core.trace import Trace
from models import make_chat_models
from reasoning import REASONERS, ReasoningBackends
from retrieval.backends import WebAccess
from stores.searxng import SearxngWebSearch
from testing.indexed_corpus import Passage
from tests.integration.reasoning.level.replies import concluded
from tests.searching import World, open_world
from tests.twins.chat_server import Call, ChatServer, Reply
from tests.twins.searxng_server import SearxngServer

QUESTION = "Who wrote Rumble Fish?"
BOOKS = [
    Passage(key="novel", title="Rumble Fish", text="The novel Rumble Fish was written by S. E. Hinton."),
    Passage(key="film", title="Rumble Fish", text="Rumble Fish is a film by Francis Ford Coppola."),
    Passage(key="kitchen", title="Fish", text="A rumble came from where the fish is cooked."),
]
RESULTS = ({"url": "https://one.example/a", "title": "Hinton", "content": "S. E. Hinton lives in Tulsa."},)


@dataclass(frozen=True, kw_only=True)
class Asked:
    answer: Answer
    searched: list[tuple[str, str, list[str]]]
    notes: list[str]


@pytest.fixture
def web() -> Iterator[SearxngServer]:
    with SearxngServer(RESULTS) as server:
        yield server


@pytest.fixture
async def world(tmp_path: Path, web: SearxngServer) -> AsyncIterator[World]:
    async with open_world(tmp_path, web=WebAccess(search=SearxngWebSearch(url=web.url))) as world:
        await world.put(BOOKS)
        yield world


async def ask(world: World, server: ChatServer, spec: str, *, permitted: bool = False) -> Asked:
    """`searched` are searcher, query and the keys of what came back."""
    settings = LlmSettings(base_url=server.url, model="scripted", send_metadata=True, retries=0, cache=False)
    models = make_chat_models(settings, None, None)
    backends = ReasoningBackends(
        searcher=world.searcher("bridged"),
        embedder=world.embedder,
        models=models,
        searchers=lambda spec: world.searcher(spec.name, **spec.options),
        web_configured=True,
    )
    trace = Trace()
    try:
        reasoner = build(REASONERS, parse_spec(spec), "reasoner", backends)
        answer = await reasoner.answer(Question(corpus=world.corpus, text=QUESTION, web=permitted), trace)
    finally:
        await models.close()
    searched = [
        (event.searcher, event.query, [hit.document.key for hit in event.hits])
        for event in trace.events
        if isinstance(event, SearchEvent)
    ]
    return Asked(answer=answer, searched=searched, notes=trace.notes)


async def test_refined_queries_are_valid_and_mean_what_they_say(world: World, server: ChatServer) -> None:
    server.scripts["rewrite_keywords"].append(Reply.json({"keywords": ["Rumble Fish", "film"]}))
    server.scripts["refine_query"].append(Reply.json({"extend": "cooked", "emphasize": "film", "filter": "Coppola"}))
    server.scripts["verify"].extend([Reply.json({"enough": False})] * 3)
    server.scripts["conclude"].append(concluded("S. E. Hinton [1]"))
    asked = await ask(world, server, "level:searchers=sparse,high_level=false,sparse_depth=1")
    assert [(query, keys) for _, query, keys in asked.searched] == [
        ('"Rumble Fish" film', ["film", "novel"]),
        ('"Rumble Fish" film cooked', ["film", "kitchen", "novel"]),
        ('"Rumble Fish" film^2', ["film", "novel"]),
        ('"Rumble Fish" film -Coppola', ["novel"]),
    ]
    assert {name for name, _, _ in asked.searched} == {"sparse"}
    assert asked.answer.plain == "S. E. Hinton"
    assert asked.answer.citations[0].document.key == "novel", "the last query's passages are what is left"


async def test_no_word_of_a_model_is_an_error_of_syntax(world: World, server: ChatServer) -> None:
    evil = ['") OR (*:*', "AND", "a^b", "\\", "Rumble Fish"]
    words = iter([*evil, "title:[a TO b]", "~2", "{!lucene}", "x" * 200, "🙂", "-", '""'] * 9)

    def respond(call: Call) -> Reply:
        match call.role:
            case "rewrite_keywords":
                return Reply.json({"keywords": evil})
            case "refine_query":
                return Reply.json({"extend": next(words), "emphasize": next(words), "filter": next(words)})
            case "verify":
                return Reply.json({"enough": False})
        return Reply.json({"answer": "", "support": "none", "unstated": ""})

    server.respond = respond
    asked = await ask(world, server, "level:searchers=sparse,high_level=false")
    assert len(asked.searched) > 2
    assert len({query for _, query, _ in asked.searched}) == len(asked.searched)
    assert all({"novel", "film"} <= set(keys) for _, _, keys in asked.searched[:2])


@pytest.mark.parametrize(("searchers", "leaves"), [("web", True), ("web+bridged", False)])
async def test_supplements_leave_for_the_web_if_no_passage_of_the_corpus_was_read(
    world: World, server: ChatServer, web: SearxngServer, searchers: str, *, leaves: bool
) -> None:
    """What was found on the web is public; one passage of the corpus makes all that follows private."""
    supplement = "Where does S. E. Hinton live?"
    server.scripts["atomic_queries"].append(Reply.json({"queries": [QUESTION]}))
    server.scripts["verify"].extend([Reply.json({"enough": False}), Reply.json({"enough": True})])
    server.scripts["supplement"].append(Reply.json({"queries": [supplement]}))
    server.scripts["summarize"].extend(
        [
            Reply.json({"summary": "S. E. Hinton wrote Rumble Fish.", "support": "stated", "citations": [1]}),
            Reply.json({"summary": "S. E. Hinton lives in Tulsa.", "support": "stated", "citations": [1]}),
        ]
    )
    server.scripts["conclude"].append(concluded("S. E. Hinton [1]"))
    asked = await ask(world, server, f"level:searchers={searchers}", permitted=True)
    assert web.questions == ([QUESTION, supplement] if leaves else [QUESTION])
    by_web = [(query, bool(keys)) for name, query, keys in asked.searched if name == "web"]
    assert by_web == [(QUESTION, True), (supplement, leaves)]
    assert any("web: not asked" in note for note in asked.notes) is not leaves
    assert asked.answer.citations[0].url == "https://one.example/a"


async def test_a_phrase_that_no_passage_holds_is_tried_again_as_words(world: World, server: ChatServer) -> None:
    """An addition to a name is separated first. No model is called for it, and other phrases stay."""
    server.scripts["rewrite_keywords"].append(Reply.json({"keywords": ["The Rumble Fish (Film)", "Ford Coppola"]}))
    server.scripts["conclude"].append(concluded("Francis Ford Coppola [1]"))
    asked = await ask(world, server, "level:searchers=sparse,high_level=false,sparse_depth=0")
    assert [query for _, query, _ in asked.searched] == [
        '"The Rumble Fish (Film)" "Ford Coppola"',
        '"The Rumble Fish" Film "Ford Coppola"',
        'Rumble Fish Film "Ford Coppola"',
    ]
    assert asked.searched[-1][2][0] == "film"
    assert [call.role for call in server.calls] == ["rewrite_keywords", "conclude"]


async def test_the_default_searchers(world: World, server: ChatServer, web: SearxngServer) -> None:
    server.scripts["conclude"].extend([concluded("Rumble Fish [1]")] * 2)
    spec = "level:high_level=false,rewrite=never,dense_rewrites=0"
    asked = await ask(world, server, spec)
    assert {name for name, _, _ in asked.searched} == {"sparse", "dense"}
    assert web.questions == []
    assert asked.notes == []
    asked = await ask(world, server, spec, permitted=True)
    assert {name for name, _, _ in asked.searched} == {"sparse", "dense", "web"}
