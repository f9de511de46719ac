"""`omni:preset=paper` beside the pipeline of the paper (arXiv 2506.21384), written out here, over real stores."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.container import Container
from app.services.questions import AskRequest, SearchRequest, ask, search
from core.corpora import Corpus
from core.events import SearchEvent
from core.ports.reasoning import Support
from core.ports.retrieval import Hit
from core.strategies import parse_spec
from core.trace import Trace
from evaluation import index_dataset, read_dataset
from reasoning.citations.quotes import passage_text
from tests.integration.evaluation.townsfolk import write_townsfolk
from tests.integration.evaluation.workbench import WorkerHere, workbench
from tests.twins.chat_server import Call, ChatServer, Reply
from tests.twins.rerank_server import RerankServer

TYPED = "wich rivers r at the towns wher the painters mouth were born??"
REWRITTEN = "Which rivers are at the towns where the painters Mouth were born?"
INTENTS = (
    *(f"On which river is the town where {name} Mouth was born?" for name in ("Barina", "Corina", "Delina", "Fenina")),
    "Which market town is on the River Barelmouth?",
    "Which market town is on the River Corelmouth?",
    "Which river is far away?",
)
"""More than the five to which the reasoner bounds them by default."""
KEPT = 10


@dataclass(frozen=True, kw_only=True)
class Town:
    """A container with a corpus of the townsfolk, the model's endpoint and the reranker's."""

    container: Container
    corpus: Corpus
    model: ChatServer
    reranker: RerankServer


@pytest.fixture
async def town(tmp_path: Path) -> AsyncIterator[Town]:
    write_townsfolk(tmp_path / "towns", people=10, distractors=1)
    with ChatServer(respond=respond) as model, RerankServer() as reranker:
        llm = {"model": "m", "base_url": model.url, "api_key": "k", "send_metadata": True, "cache": False, "retries": 0}
        services = {"llm": llm, "reranker": {"kind": "http", "url": reranker.address}}
        async with workbench(tmp_path / "data", **services) as container:
            corpus, _ = await index_dataset(
                container,
                WorkerHere(),
                read_dataset(tmp_path / "towns"),
                chunker="passage",
                extractor="pattern",
                progress=lambda *_: None,
            )
            yield Town(container=container, corpus=corpus, model=model, reranker=reranker)


def respond(call: Call) -> Reply:
    said = {
        "denoise": {"question": REWRITTEN},
        "split_intents": {"queries": list(INTENTS)},
        "conclude": {
            "thoughts": "Each town has one.",
            "answer": "Barelmouth [1]",
            "support": "inferred",
            "unstated": "",
        },
    }
    return Reply.json(said[call.role])


async def rerank_union(town: Town) -> tuple[list[Hit], list[Hit]]:
    """The paper's retrieval: K passages for each sub-query, their union without duplicates, and of these the best ten
    by the cross-encoder's score for the rewritten question. K is not given.
    """
    union: dict[str, Hit] = {}
    for intent in INTENTS:
        request = SearchRequest(query=intent, searcher=parse_spec("sparse"), k=10)
        found = await search(town.container, town.corpus, request, Trace())
        union.update((hit.chunk.id, hit) for hit in found.hits)
    hits = list(union.values())
    assert town.container.reranker is not None
    scores = await town.container.reranker.rank(REWRITTEN, [passage_text(hit) for hit in hits])
    best = sorted(range(len(hits)), key=lambda place: -scores[place])[:KEPT]
    return hits, [hits[place] for place in best]


async def test_the_calls_queries_and_contexts_are_those_of_the_paper(town: Town) -> None:
    trace = Trace()
    answer = await ask(
        town.container, town.corpus, AskRequest(question=TYPED, reasoner=parse_spec("omni:preset=paper")), trace
    )
    calls = town.model.calls
    (request,) = town.reranker.requests
    union, best = await rerank_union(town)
    assert len(union) > KEPT, "reranking has something to leave out"

    assert [call.role for call in calls] == ["denoise", "split_intents", "conclude"]
    denoise, split, generate = (call.messages[-1]["content"] for call in calls)
    assert TYPED in denoise
    assert REWRITTEN in split
    assert TYPED not in split, "sub-queries are made of the rewritten question"
    assert "<passage" not in denoise + split

    searches = [event for event in trace.events if isinstance(event, SearchEvent)]
    assert sorted(event.query for event in searches) == sorted(INTENTS), "all of them, and nothing else"
    assert {event.searcher for event in searches} == {"sparse"}

    assert request.body["query"] == REWRITTEN
    assert sorted(request.body["documents"]) == sorted(map(passage_text, union)), "the union, each passage once"

    assert TYPED in generate, "equation 6: the answer is generated from the question as it was asked"
    assert REWRITTEN not in generate
    titles = re.findall(r'<passage n="\d+" title="([^"]*)"', generate)
    assert len(titles) == KEPT
    assert set(titles) <= {hit.document.title for hit in union}
    shown = [hit for hit in union if hit.document.title in titles]
    assert min(await _scores(town, shown)) == pytest.approx(min(await _scores(town, best))), "the best ten are read"
    read = await _scores(town, [next(hit for hit in union if hit.document.title == title) for title in titles])
    assert read == sorted(read, reverse=True), "the best passage comes first"
    assert "thinking step by step" in calls[2].messages[0]["content"]
    assert "temperature" not in calls[2].body or calls[2].body["temperature"] == 0, "one path, which is not sampled"
    assert answer.support is Support.INFERRED


async def _scores(town: Town, hits: list[Hit]) -> list[float]:
    assert town.container.reranker is not None
    return list(await town.container.reranker.rank(REWRITTEN, [passage_text(hit) for hit in hits]))


async def test_options_beside_the_preset_bound_it_and_turn_its_parts_off(town: Town) -> None:
    spec = parse_spec("omni:preset=paper,max_intents=2,denoise=false,rerank=false")
    trace = Trace()
    await ask(town.container, town.corpus, AskRequest(question=TYPED, reasoner=spec), trace)
    assert [call.role for call in town.model.calls] == ["split_intents", "conclude"]
    assert TYPED in town.model.calls[0].messages[-1]["content"]
    assert sorted(event.query for event in trace.events if isinstance(event, SearchEvent)) == sorted(INTENTS[:2])
    assert not town.reranker.requests
