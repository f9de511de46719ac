"""The presets of published systems: what they set, what takes precedence, and what they refuse."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from core.corpora import Corpus
from core.errors import InvalidStrategy
from core.ports.reasoning import Unsupported
from core.strategies import describe, parse_config, parse_spec
from reasoning import REASONERS
from tests.integration.reasoning.good_model import good_model
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import ChatServer

QUESTION = "Which publishing house was it that published The Outsiders?"
PAPERS = {
    "par": {"searcher": "dense", "fine": "fine", "k": 10, "review_rounds": 0, "skip_supported": False},
    "level": {"searchers": "sparse+dense+web", "k": 10, "verify": "separate", "max_refined": 27, "dense_rewrites": 3},
    "plan_star": {"searcher": "dense", "k": 5, "retrieve": "node", "schedule": "depth", "conclude_from": "sinks"},
    "omni": {"searcher": "sparse", "keep": 10, "rerank": True, "rerank_by": "rewritten", "paths": 1},
}
SEARCHERS = {"par": {"dense", "fine"}, "level": {"sparse", "dense"}, "plan_star": {"dense"}, "omni": {"sparse"}}
_REMEMBER = '"memory" if you know the answer'


class _AllEqual:
    """A reranker that has no preference."""

    async def rank(self, _question: str, passages: Sequence[str]) -> list[float]:
        return [0.0] * len(passages)


@pytest.fixture
def desk(server: ChatServer) -> ReasoningDesk:
    server.respond = good_model("Viking Press", QUESTION)
    documents = {"outsiders": ("The Outsiders", "The Outsiders was published by Viking Press in 1967.")}
    desk = ReasoningDesk(server, documents, reranker=_AllEqual())
    desk.backends = replace(desk.backends, has_facts=_has_facts)
    return desk


async def _has_facts(_corpus: Corpus) -> bool:
    return True


def _options(text: str) -> dict[str, Any]:
    return parse_config(REASONERS, parse_spec(text), "reasoner").model_dump()


def test_the_presets_are_those_of_the_published_systems() -> None:
    described = {one["name"]: one["options"]["properties"] for one in describe(REASONERS, "reasoner")}
    presets = {name: options["preset"]["presets"] for name, options in described.items() if "preset" in options}
    assert {name: set(found) for name, found in presets.items()} == {name: {"paper"} for name in PAPERS}
    assert all(found["paper"]["memory"] is True for found in presets.values())


@pytest.mark.parametrize("name", PAPERS)
def test_a_preset_sets_the_options_of_the_paper(name: str) -> None:
    options = _options(f"{name}:preset=paper")
    assert options.items() >= PAPERS[name].items()
    given = _options(f"{name}:preset=paper,k=3,memory=false")
    assert (given["k"], given["memory"]) == (3, False)
    assert given == {**options, "k": 3, "memory": False}


@pytest.mark.parametrize("name", PAPERS)
@pytest.mark.parametrize(
    ("unsupported", "permitted"), [(Unsupported.INFER, True), (Unsupported.MEMORY, True), (Unsupported.ABSTAIN, False)]
)
async def test_a_preset_permits_memory_unless_the_request_forbids_it(
    desk: ReasoningDesk, name: str, unsupported: Unsupported, permitted: bool
) -> None:
    answer, _ = await desk.ask(f"{name}:preset=paper", QUESTION, unsupported=unsupported)
    assert "Viking Press" in answer.plain
    assert {searcher.partition(":")[0] for searcher, _ in desk.searched} == SEARCHERS[name]
    assert any(_REMEMBER in call.text for call in desk.server.calls) is permitted


@pytest.mark.parametrize("name", PAPERS)
async def test_without_the_preset_nothing_comes_from_memory(desk: ReasoningDesk, name: str) -> None:
    await desk.ask(name, QUESTION)
    assert not any(_REMEMBER in call.text for call in desk.server.calls)


async def test_par_is_refused_for_a_corpus_without_triples(desk: ReasoningDesk) -> None:
    async def has_none(_corpus: Corpus) -> bool:
        return False

    desk.backends = replace(desk.backends, has_facts=has_none)
    with pytest.raises(InvalidStrategy, match=r"'par' searches a graph of triples, and the corpus '[^']*' has none"):
        await desk.ask("par:preset=paper", QUESTION)
    assert not desk.server.calls
    answer, _ = await desk.ask("par", QUESTION)
    assert answer.plain == "Viking Press"


async def test_omni_is_refused_without_a_reranker(desk: ReasoningDesk) -> None:
    desk.backends = replace(desk.backends, reranker=None)
    with pytest.raises(InvalidStrategy, match=r"'omni' needs a reranking model, and none is configured: set HOPWEAVE_"):
        await desk.ask("omni:preset=paper", QUESTION)
    answer, _ = await desk.ask("omni:preset=paper,rerank=false", QUESTION)
    assert answer.plain == "Viking Press"
