"""A language model reads what the words of a survey leave undecided: its cost, its faults, and who sees what."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from core.corpora import Corpus
from core.documents import Chunk
from core.events import CallEvent, PlanEvent, SearchEvent
from core.ids import document_id
from core.ports.chat import ChatModels
from core.ports.reasoning import Answer, Question
from core.settings import LlmSettings
from core.trace import Budget, Event, Trace
from models import ConfiguredModels, make_chat_models
from reasoning import ReasoningBackends
from reasoning.strategies.survey.reasoner import Config, Survey
from reasoning.strategies.survey.undecided import model_reading
from retrieval.surveying import SnapshotDocumentFinder
from stores.sqlite.model_cache import SqliteModelCache
from tests.integration.reasoning.test_survey import QUESTION, contract, coverage
from tests.searching import World, open_world
from tests.twins.chat_server import Call, ChatServer, Reply

_TITLE = re.compile(r'title="([^"]*)"')
_SENTENCES = {
    "Torre": ("yes", "The law of our relations, by which this is governed, is known to both. It is the Delaware code."),
    "Berg": ("no", "A firm of Delaware signs it. It is governed. The law is the Texan one."),
    "Quist": ("unclear", "It is governed. A law. In Delaware."),
}
"""What the scripted model says of each contract, and the text, which words leave undecided."""


def answer_well(call: Call) -> Reply:
    found = _TITLE.search(call.messages[-1]["content"])
    assert found is not None, call.text
    verdict, text = _SENTENCES[found[1].split()[0]]
    return Reply.json({"sentence": text.split(". ")[0] if verdict != "unclear" else "", "verdict": verdict})


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path) as opened:
        await opened.put([contract("Halden", "This contract is governed by the law of Delaware.")])
        await opened.put([contract(name, text) for name, (_, text) in _SENTENCES.items()])
        yield opened


def make_models(world: World, server: ChatServer, folder: Path, profile: Literal["small", "large"]) -> ConfiguredModels:
    settings = LlmSettings(
        base_url=server.url, model="scripted", profile=profile, send_metadata=True, retries=0, timeout=10
    )
    return make_chat_models(settings, SqliteModelCache(folder / "answers.db"), world.record.graph)


@pytest.fixture
async def models(world: World, server: ChatServer, tmp_path: Path) -> AsyncIterator[ChatModels]:
    server.respond = answer_well
    configured = make_models(world, server, tmp_path, "small")
    yield configured
    await configured.close()


async def survey(
    world: World,
    models: ChatModels | None,
    text: str = QUESTION,
    *,
    finder: SnapshotDocumentFinder | None = None,
    budget: Budget | None = None,
    listener: Callable[[Event], None] | None = None,
    calls: int = 100,
    **fields: Any,
) -> tuple[Answer, Trace]:
    trace = Trace(budget=budget or Budget(), listeners=[listener] if listener else [])
    backends = ReasoningBackends(searcher=world.searcher("bridged"), embedder=world.embedder, models=models)
    asked = Survey(Config(calls=calls), finder or SnapshotDocumentFinder(world.backends), backends)
    return await asked.answer(Question(corpus=world.corpus, text=text, **fields), trace), trace


def rows_of(answer: Answer) -> tuple[set[str], set[str]]:
    """The documents that count, and all that are shown."""
    head = re.split(r"(?:\A|\n\n)(?:Not counted|Undecided)", answer.text)[0]
    named = [(citation.document.title.split()[0], citation.answer_span.end) for citation in answer.citations]
    return {name for name, end in named if end <= len(head)}, {name for name, _ in named}


def counted(answer: Answer) -> set[str]:
    return rows_of(answer)[0]


async def test_a_yes_with_its_sentence_counts_and_the_others_say_what_the_model_said(
    world: World, models: ChatModels
) -> None:
    answer, trace = await survey(world, models)
    assert counted(answer) == {"Halden", "Torre"}
    assert answer.text.startswith("2 documents")
    assert "because a language model says no (1):\n\n- Berg contract" in answer.text
    assert "- Quist contract" in answer.text
    assert "(a language model cannot tell)" in answer.text
    assert coverage(answer) == (
        "Read 4 of 4 documents that could match; 1 undecided; a language model read 3 that words leave undecided: "
        "1 count, 1 do not."
    )
    assert "scripted read the documents that words leave undecided" in answer.note
    for citation in answer.citations:
        assert citation.quote in answer.text
    first = next(step for event in trace.events if isinstance(event, PlanEvent) for step in event.steps)
    assert first.question.startswith("scripted reads 3 documents that words leave undecided: at most 3 calls, about ")
    rows = [event for event in trace.events if isinstance(event, SearchEvent) and event.step == "2"]
    assert [hit.document.title for event in rows for hit in event.hits].count("Torre contract") == 1
    assert trace.usage.calls == 3


async def test_the_estimate_of_tokens_is_near_what_the_calls_took(world: World, models: ChatModels) -> None:
    _, trace = await survey(world, models)
    first = next(step for event in trace.events if isinstance(event, PlanEvent) for step in event.steps)
    estimated = int(re.findall(r"about ([\d,]+) tokens", first.question)[0].replace(",", ""))
    assert trace.usage.tokens == pytest.approx(estimated, rel=0.3)


@pytest.mark.parametrize("sentence", ["It is governed by the law of Delaware, and nothing else.", ""])
async def test_a_yes_without_a_sentence_of_the_document_stays_undecided(
    world: World, models: ChatModels, server: ChatServer, sentence: str
) -> None:
    server.respond = lambda _: Reply.json({"sentence": sentence, "verdict": "yes"})
    answer, _ = await survey(world, models)
    assert counted(answer) == {"Halden"}
    assert answer.text.count("(a language model says yes, and names no sentence that shows it)") == 3


async def test_a_yes_with_a_sentence_about_something_else_stays_undecided(
    world: World, models: ChatModels, server: ChatServer
) -> None:
    await world.put(
        [contract("Lumen", "It is governed. The law is there. In Delaware. The weather is very fine today.")]
    )
    server.respond = lambda _: Reply.json({"sentence": "The weather is very fine today.", "verdict": "yes"})
    answer, _ = await survey(world, models)
    assert counted(answer) == {"Halden"}


async def test_another_question_with_the_same_condition_costs_no_calls(world: World, models: ChatModels) -> None:
    first, _ = await survey(world, models)
    again, trace = await survey(world, models, "How many of our contracts are governed by Delaware law?")
    assert (trace.usage.calls, trace.usage.cached) == (0, 3)
    assert again.text == first.text


async def test_what_is_cached_of_a_document_goes_with_it_and_the_rest_stays(world: World, models: ChatModels) -> None:
    await survey(world, models)
    await world.remove(["contracts/Torre.txt"])
    _, trace = await survey(world, models)
    assert (trace.usage.calls, trace.usage.cached) == (0, 2)
    await world.put([contract("Torre", _SENTENCES["Torre"][1])])
    answer, trace = await survey(world, models)
    assert (trace.usage.calls, trace.usage.cached) == (1, 2), "the answer on the deleted document was deleted, too"
    assert counted(answer) == {"Halden", "Torre"}


async def test_hidden_documents_never_reach_the_model(world: World, models: ChatModels, server: ChatServer) -> None:
    seen = frozenset(document_id(f"contracts/{name}.txt") for name in ("Halden", "Berg"))
    await survey(world, models, documents=seen)
    assert len(server.calls) == 1
    assert not any(name in call.text for call in server.calls for name in ("Torre", "Quist", "Halden"))


async def test_what_documents_lack_is_not_asked(world: World, models: ChatModels, server: ChatServer) -> None:
    await survey(world, models, "Which contracts do not mention Delaware law?")
    assert server.calls == []


async def test_a_budget_that_ends_leaves_the_rest_undecided(world: World, models: ChatModels) -> None:
    answer, trace = await survey(world, models, budget=Budget(calls=1))
    assert trace.usage.calls == 1
    assert "a language model read 1 that words leave undecided" in coverage(answer)
    assert coverage(answer).endswith("it was not asked about all of them: the budget of the question is used up.")
    assert rows_of(answer)[1] == {"Halden", "Torre", "Berg", "Quist"}


async def test_the_option_bounds_the_calls(world: World, models: ChatModels, server: ChatServer) -> None:
    answer, _ = await survey(world, models, calls=2)
    assert len(server.calls) == 2
    assert coverage(answer).endswith("it was not asked about all of them: it reads 2 documents at most.")
    without, _ = await survey(world, models, calls=0)
    assert without.text == (await survey(world, None))[0].text


async def test_a_model_that_is_gone_leaves_all_undecided(world: World, models: ChatModels, server: ChatServer) -> None:
    server.respond = lambda _: Reply(status=503, text="it is restarted")
    answer, _ = await survey(world, models)
    assert counted(answer) == {"Halden"}
    assert "3 undecided; it was not asked about all of them: the language model is not available" in coverage(answer)
    assert rows_of(answer)[1] == {"Halden", "Torre", "Berg", "Quist"}


async def test_replies_that_are_cut_or_no_json_leave_their_document_undecided(
    world: World, models: ChatModels, server: ChatServer
) -> None:
    def respond(call: Call) -> Reply:
        if "Torre" in call.text:
            return answer_well(call)
        return (
            Reply(text='{"sentence": "A firm of', finish_reason="length") if "Berg" in call.text else Reply(text="Hm")
        )

    server.respond = respond
    answer, trace = await survey(world, models)
    assert counted(answer) == {"Halden", "Torre"}
    assert rows_of(answer)[1] == {"Halden", "Torre", "Berg", "Quist"}
    assert coverage(answer).startswith("Read 4 of 4 documents that could match; 2 undecided; a language model read 1 ")
    assert sum("cannot be read; the document stays undecided" in note for note in trace.notes) == 2


async def test_a_connection_that_dies_in_a_reply_loses_no_row(
    world: World, models: ChatModels, server: ChatServer
) -> None:
    server.respond = lambda call: Reply(text=answer_well(call).text, cut_after=0, abrupt=True)
    answer, _ = await survey(world, models)
    assert rows_of(answer)[1] == {"Halden", "Torre", "Berg", "Quist"}
    assert "it was not asked about all of them" in coverage(answer)


class _Changing(SnapshotDocumentFinder):
    """Changes the corpus before the model reads its first document."""

    def __init__(self, world: World, change: Callable[[World], Any]) -> None:
        super().__init__(world.backends)
        self._world = world
        self._change = change
        self._reads = 0
        self._lock = asyncio.Lock()

    async def get_chunks(self, corpus: Corpus, chunk_ids: Collection[str]) -> Mapping[str, Chunk]:
        async with self._lock:
            self._reads += 1
            if self._reads == 2:
                await self._change(self._world)
        return await super().get_chunks(corpus, chunk_ids)


async def test_a_document_that_is_deleted_before_it_is_read_is_in_no_number_and_never_sent(
    world: World, models: ChatModels, server: ChatServer
) -> None:
    finder = _Changing(world, lambda world: world.remove(["contracts/Torre.txt"]))
    answer, _ = await survey(world, models, finder=finder)
    assert "Torre" not in answer.text
    assert coverage(answer).startswith("Read 3 of 3 documents that could match; 1 undecided; a language model read 2 ")
    assert not any("Torre" in call.text for call in server.calls)


async def test_a_document_that_is_deleted_while_the_model_reads_it_is_in_no_number(
    world: World, models: ChatModels, server: ChatServer
) -> None:
    class Deleting(SnapshotDocumentFinder):
        deleted = False
        lock = asyncio.Lock()

        async def get_chunks(self, corpus: Corpus, chunk_ids: Collection[str]) -> Mapping[str, Chunk]:
            async with self.lock:  # nothing is read while the document is being deleted
                if not self.deleted and any("Torre" in call.text for call in server.calls):
                    await world.remove(["contracts/Torre.txt"])
                    self.deleted = True
            return await super().get_chunks(corpus, chunk_ids)

    finder = Deleting(world.backends)
    answer, _ = await survey(world, models, finder=finder)
    assert finder.deleted
    assert "Torre" not in answer.text
    assert coverage(answer).startswith("Read 3 of 3 documents")


async def test_a_document_that_is_replaced_before_it_is_read_stays_undecided(
    world: World, models: ChatModels, server: ChatServer
) -> None:
    changed = contract("Torre", "It says something else now.")
    answer, _ = await survey(world, models, finder=_Changing(world, lambda world: world.put([changed])))
    assert counted(answer) == {"Halden"}
    assert "- Torre contract" in answer.text
    assert not any("Torre" in call.text for call in server.calls)


async def test_calls_are_made_side_by_side_and_told_as_they_end(
    world: World, models: ChatModels, server: ChatServer
) -> None:
    def respond(call: Call) -> Reply:
        reply = answer_well(call)
        return Reply(text=reply.text, until=lambda: server.most_in_flight >= 3)

    server.respond = respond
    _, trace = await survey(world, models)
    assert server.most_in_flight == 3
    told = [step.question for event in trace.events if isinstance(event, PlanEvent) for step in event.steps]
    assert told[1:] == [f"{done} of 3 undecided documents read" for done in (1, 2, 3)]
    assert sum(isinstance(event, CallEvent) for event in trace.events) == 3


async def test_of_a_long_document_the_passages_of_the_finder_are_read(
    world: World, models: ChatModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Counting(SnapshotDocumentFinder):
        read_whole = 0

        async def list_chunks(self, corpus: Corpus, document_id: str) -> Sequence[Chunk]:
            self.read_whole += 1
            return await super().list_chunks(corpus, document_id)

    finder = Counting(world.backends)
    await survey(world, models, finder=finder)
    whole = finder.read_whole
    monkeypatch.setattr(model_reading, "_MOST_READ", 0)
    answer, _ = await survey(world, models, finder=finder)
    assert (whole, finder.read_whole) == (3, 3)
    assert counted(answer) == {"Halden", "Torre"}
