"""What `extractive` quotes, and when it abstains."""

from dataclasses import replace

import pytest

from core.ports.chat import Message, Speaker
from core.ports.reasoning import Support, Unsupported
from core.ports.retrieval import Signals
from reasoning.shared.passage_similarity import find_similarity
from tests.reasoning_desk import ReasoningDesk, hit
from tests.twins.chat_server import ChatServer
from tests.twins.embedder import TwinEmbedder

QUESTION = "Which publishing house published The Outsiders?"
STATED = "Which publisher published The Outsiders?"


async def test_quotes_are_stated_and_cite_their_passage(desk: ReasoningDesk, server: ChatServer) -> None:
    answer, _ = await desk.ask("extractive:min_similarity=0.1,sentences=2", STATED)
    assert (answer.abstained, answer.support) == (False, Support.STATED)
    assert "The Outsiders was published by Viking Press in 1967." in answer.text
    assert len(answer.citations) == 2
    assert not server.calls


async def test_a_sentence_about_something_else_is_inferred(desk: ReasoningDesk) -> None:
    asked = ("extractive:min_similarity=0.1,sentences=2", "Who illustrated The Outsiders?")
    answer, _ = await desk.ask(*asked)
    assert (answer.abstained, answer.support, answer.steps[0].support) == (False, Support.INFERRED, Support.INFERRED)
    assert "“illustrated”" in answer.note
    assert answer.citations
    withheld, _ = await desk.ask(*asked, unsupported=Unsupported.ABSTAIN)
    assert (withheld.abstained, withheld.support, withheld.citations) == (True, Support.NONE, ())
    assert withheld.text == "No sentence that was found states the answer."
    assert withheld.note == "The nearest sentence lacks: “illustrated”."
    assert withheld.steps[0].answer == ""


async def test_an_answer_says_that_it_only_quotes(desk: ReasoningDesk) -> None:
    answer, trace = await desk.ask("extractive:min_similarity=0.1", STATED)
    assert answer.note == "Extractive: this answer only quotes sentences; no language model wrote it."
    assert not any("conversation" in note for note in trace.notes)
    history = (Message(speaker=Speaker.USER, content="Who wrote it?"),)
    _, trace = await desk.ask("extractive:min_similarity=0.1", QUESTION, history=history)
    assert any("the conversation before the question was not read" in note for note in trace.notes)


async def test_it_abstains_if_no_passage_is_near_enough(desk: ReasoningDesk) -> None:
    answer, _ = await desk.ask("extractive:min_similarity=0.95", QUESTION)
    assert (answer.abstained, answer.support, answer.citations) == (True, Support.NONE, ())
    assert answer.steps[0].hits
    foreign, _ = await desk.ask("extractive", "Capital of Mongolia?")
    assert foreign.abstained


async def test_one_near_passage_lets_the_others_be_quoted(desk: ReasoningDesk) -> None:
    """What is asked for may stand in a passage that is far from the question."""
    embedder = TwinEmbedder()
    vector = await embedder.embed_query(QUESTION)
    near = {key: await find_similarity(embedder, vector, [one]) for key, one in desk.hits.items()}
    least = max(near.values()) - 0.001
    assert sum(similarity >= least for similarity in near.values()) == 1
    answer, _ = await desk.ask(f"extractive:min_similarity={least},sentences=20", QUESTION)
    assert len({citation.document.key for citation in answer.citations}) > 1


@pytest.mark.parametrize(("signal", "expected"), [(0.9, 0.9), (-0.2, -0.2)])
async def test_the_searchers_own_cosine_counts(signal: float, expected: float) -> None:
    embedder = TwinEmbedder()
    near = replace(hit("a", "A", "far away"), signals=Signals(dense=signal))
    assert await find_similarity(embedder, await embedder.embed_query("near?"), [near]) == expected


async def test_a_hit_without_a_cosine_is_embedded() -> None:
    embedder = TwinEmbedder()
    vector = await embedder.embed_query("Orrin\nThe mill.")
    far = replace(hit("a", "A", "far away"), signals=Signals(dense=0.1))
    similarity = await find_similarity(embedder, vector, [far, hit("b", "Orrin", "The mill.")])
    assert similarity == pytest.approx(1.0, abs=1e-5)
    assert await find_similarity(embedder, vector, []) == -1.0
