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
from tests.twins.chat_server import Call, ChatServer, Reply

QUESTION = "Which publishing house was it that published The Outsiders?"
PAPERS = {
    "par": {
        "searcher": "dense", "fine": "fine", "k": 10, "evidence": 10, "review_rounds": 0, "skip_supported": False,
        "review_query": "answer", "review_cited": False, "merge": "score", "refine_from": "last", "combine": False,
        "show_purpose": False, "guide": False, "fill_gaps": False,
    },
    "level": {
        "searchers": "sparse+dense+web", "k": 10, "verify": "separate", "supplements": None, "max_queries": None,
        "max_calls": None, "max_refined": 27, "sparse_depth": 3, "dense_rewrites": 3, "refine": "separate",
        "judge_all": True, "loosen": False, "conclude_always": True,
    },
    "plan_star": {
        "searcher": "dense", "k": 5, "retrieve": "node", "schedule": "depth", "conclude_from": "sinks",
        "conclude_with": "answers", "ask_always": True, "together": False, "own_grade": False,
    },
    "omni": {
        "searcher": "sparse", "keep": 10, "rerank": True, "rerank_by": "rewritten", "generate_from": "original",
        "paths": 1, "max_intents": 0,
    },
    "ircot": {
        "searcher": "sparse", "k": 4, "max_passages": 15, "max_sentences": 8, "reader": "cot", "needs": False,
    },
    "react": {"k": 1, "rounds": 7, "further": False, "tell_left": False, "conclude": False},
    "self_rag": {
        "searcher": "dense", "k": 5, "candidates": 5, "retrieve": "adaptive", "together": False, "own_grade": False,
        "relevance_weight": 1.0, "support_weight": 1.0, "usefulness_weight": 0.5,
    },
    "decompose": {"searcher": "dense", "k": 5, "retrieve": "query", "shortcut": False},
    "iter_retgen": {"searcher": "dense", "k": 5, "iterations": 2},
    "resp": {"searcher": "dense", "k": 5, "iterations": 3},
    "rq_rag": {"searcher": "dense", "k": 3, "depth": 2, "expand": "all", "temperature": 1.0, "select": "ensemble"},
}  # fmt: skip
SEARCHERS = {
    "par": {"dense", "fine"}, "level": {"sparse", "dense"}, "plan_star": {"dense"}, "omni": {"sparse"},
    "iter_retgen": {"dense"}, "resp": {"dense"}, "rq_rag": {"dense"},
    "ircot": {"sparse"}, "react": {"bridged"}, "self_rag": {"dense"}, "decompose": {"dense"},
}  # fmt: skip
CITED = {"par"}
"""The systems whose paper answers from passages alone, with at least one citation."""
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
    permits = {name: found["paper"]["memory"] for name, found in presets.items()}
    assert permits == {name: name not in CITED for name in PAPERS}


@pytest.mark.parametrize("name", PAPERS)
def test_a_preset_sets_the_options_of_the_paper(name: str) -> None:
    options = _options(f"{name}:preset=paper")
    assert options.items() >= PAPERS[name].items()
    permits = name in CITED
    given = _options(f"{name}:preset=paper,k=3,memory={str(permits).lower()}")
    assert (given["k"], given["memory"]) == (3, permits)
    assert given == {**options, "k": 3, "memory": permits}


@pytest.mark.parametrize("name", PAPERS)
@pytest.mark.parametrize("unsupported", [Unsupported.INFER, Unsupported.MEMORY, Unsupported.ABSTAIN])
async def test_a_preset_permits_memory_unless_the_request_forbids_it(
    desk: ReasoningDesk, name: str, unsupported: Unsupported
) -> None:
    permitted = unsupported is Unsupported.MEMORY or (unsupported is Unsupported.INFER and name not in CITED)
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


@pytest.mark.parametrize(("strategy", "rounds"), [("level:preset=paper", 7), ("level", 3)])
async def test_level_supplements_until_the_model_asks_for_nothing_more(
    desk: ReasoningDesk, strategy: str, rounds: int
) -> None:
    """By default after three rounds at most, whatever the model asks for."""
    otherwise = desk.server.respond
    topics = ["The Outsiders", *(f"The Outsiders, edition {number}" for number in range(7))]

    def respond(call: Call) -> Reply:
        if call.role == "supplement":
            asked = sum(other.role == "supplement" for other in desk.server.calls)
            return Reply.json({"queries": [f"Who published {topic}?" for topic in topics[asked : asked + 1]]})
        if call.role == "verify":
            return Reply.json({"enough": "<passage" in call.text})  # the passages, and never the summaries
        return otherwise(call)

    desk.server.respond = respond
    answer, _ = await desk.ask(strategy, QUESTION)
    assert [step.depth for step in answer.steps] == list(range(rounds + 2))


@pytest.mark.parametrize(("options", "together"), [("solver=self_rag", True), ("preset=paper,solver=self_rag", False)])
async def test_self_rag_in_a_node_reads_passages_together_by_default_alone(
    desk: ReasoningDesk, options: str, *, together: bool
) -> None:
    """In the paper, each passage has a candidate of its own, which is criticised also if it is only inferred."""
    both = ReasoningDesk(
        desk.server,
        {
            "outsiders": ("The Outsiders", "The Outsiders was published by Viking Press in 1967."),
            "press": ("Viking Press", "Viking Press is the publishing house that published The Outsiders."),
        },
    )
    otherwise = desk.server.respond
    inferred = {"answer": "Viking Press", "support": "inferred", "unstated": "that it was the first", "citations": [1]}
    desk.server.respond = lambda call: Reply.json(inferred) if call.role == "answer" else otherwise(call)
    await both.ask(f"plan_star:{options}", QUESTION)
    read = sorted(call.text.count("<passage n=") for call in desk.server.calls if call.role == "answer")
    assert read == ([1, 1, 2] if together else [1, 1])
    assert sum(call.role == "critique" for call in desk.server.calls) == (0 if together else 2)


async def test_omni_answers_the_question_as_it_was_asked(desk: ReasoningDesk) -> None:
    """Which is equation 6 of the paper; the rewritten question is only searched with."""
    typed = "wich publishing hous was it taht published The Outsiders"
    await desk.ask("omni:preset=paper", typed)
    (conclude,) = [call for call in desk.server.calls if call.role == "conclude"]
    assert typed in conclude.text
    assert QUESTION not in conclude.text
    assert desk.queries == [QUESTION]
