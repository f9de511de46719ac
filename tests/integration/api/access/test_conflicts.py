"""A document in force that contradicts what an answer cites is named with its words; the higher authority counts."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import date
from typing import Any

import pytest

from app.services.questions import AskRequest
from app.services.questions import ask as ask_questions
from app.services.validity import Selection, conflicts, pairs
from core.documents import DocumentRef, Span
from core.errors import BudgetExhausted, ModelFailed, ModelUnavailable
from core.events import TokenEvent
from core.keys import Scope
from core.ports.reasoning import Answer, Citation, Question
from core.ports.retrieval import Query, QueryPart, SearchResult
from core.strategies import StrategySpec
from core.trace import Event, Trace
from core.validity import NameFinder, Register
from reasoning.strategies.extractive.reasoner import Extractive
from retrieval.searchers.fused import Fused
from tests.integration.api.access.conftest import Keys
from tests.integration.api.conftest import Server, want_each_change
from tests.integration.api.test_validity import CANTEEN, CORPUS

LIMIT = "# Hotels\n\nThe hotel limit of Aldermoor Trust is {} euros per night."
RANKED = ("handbook", "guide", "policy", "statute")
QUESTION = "What is the hotel limit of Aldermoor Trust?"


def document(key: str, limit: int, **metadata: Any) -> dict[str, Any]:
    text, title = LIMIT.format(limit), key.removesuffix(".md").replace("/", " ").title()
    return {"key": key, "title": title, "text": text, "entities": ["Aldermoor Trust"], "metadata": metadata}


async def ask(server: Server, **body: Any) -> dict[str, Any]:
    asked = {"question": QUESTION, "reasoner": "extractive", **body}
    answer = await server.client.post(f"{CORPUS}/ask", json=asked)
    assert answer.status_code == 200, answer.text
    given: dict[str, Any] = answer.json()
    return given


def list_contradicted(answer: dict[str, Any]) -> set[tuple[str, str]]:
    """Returns the cited documents that others contradict, by corpus and key."""
    return {
        (citation["corpus"], citation["document"]["key"])
        for citation in answer["citations"]
        for relation in (citation["validity"] or {"relations": []})["relations"]
        if relation["kind"] == "contradicts"
    }


def first_of(answer: dict[str, Any]) -> str:
    key: str = answer["citations"][0]["document"]["key"]
    return key


@pytest.fixture
async def corpus(server: Server) -> Server:
    await server.corpus(extractor="given", chunker="passage")
    return server


@pytest.mark.parametrize("higher", ["guide.md", "policy.md"])
async def test_the_document_of_higher_authority_answers_and_the_other_one_is_named(corpus: Server, higher: str) -> None:
    limits = {"guide.md": 145, "policy.md": 110}
    (lower,) = limits.keys() - {higher}
    both = (document(key, limit, authority=1 + (key == higher)) for key, limit in limits.items())
    await corpus.ingest(*both, CANTEEN)
    answer = await ask(corpus)
    assert first_of(answer) == higher
    assert f"{limits[higher]} euros" in answer["answer"]
    words = f"The hotel limit of Aldermoor Trust is {limits[lower]} euros per night."
    assert f"says otherwise: “{words}” (in force; its authority is lower)." in answer["note"]
    (relation,) = answer["citations"][0]["validity"]["relations"]
    assert (relation["kind"], relation["key"], relation["statement"]["text"]) == ("contradicts", lower, words)
    assert relation["problem"] == "its authority is lower"


async def test_a_document_with_an_authority_is_found_that_was_not_retrieved(corpus: Server) -> None:
    await ingest_answer_of_lower_authority(corpus, others=[document("rules.md", 160, authority=0)])
    answer = await ask(corpus, k=1)
    assert {hit["document"]["key"] for step in answer["steps"] for hit in step["hits"]} == {"guide.md"}
    assert first_of(answer) == "guide.md"
    assert "“Policy” says otherwise" in answer["note"]


async def test_the_question_is_asked_again_until_nothing_prevails(corpus: Server) -> None:
    await corpus.ingest(*(document(f"{name}.md", 100 + at, authority=at) for at, name in enumerate(RANKED, 1)), CANTEEN)
    answer = await ask(corpus, k=1)
    assert first_of(answer) == f"{RANKED[-1]}.md"
    assert "its authority is higher" not in answer["note"]


async def test_searches_for_documents_with_an_authority_are_few(
    corpus: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    await corpus.ingest(*(document(f"{name}.md", 110, authority=1) for name in RANKED), CANTEEN)
    searched: list[Query] = []
    search = Fused.search

    async def count(searcher: Fused, query: Query, trace: Trace) -> SearchResult:
        searched.append(query)
        return await search(searcher, query, trace)

    monkeypatch.setattr(Fused, "search", count)
    await ask(corpus, k=10)
    assert 0 < len(searched) <= pairs._MOST_SEARCHES
    ranked = {query.text for query in searched}
    assert all(len(text) <= pairs._LONGEST_SEARCHED for text in ranked)
    searched.clear()
    await ask(corpus, question="What does the canteen offer?", filter={"$key": "canteen.md"})
    assert searched == []


@pytest.mark.parametrize("newer", ["travel-2021.md", "travel-2024.md"])
async def test_of_equal_authority_the_newer_version_answers(corpus: Server, newer: str) -> None:
    days = {"travel-2021.md": "2021-01-01", "travel-2024.md": "2021-01-01"} | {newer: "2024-01-01"}
    await corpus.ingest(*(document(key, 100 + at, valid_from=days[key]) for at, key in enumerate(days)))
    answer = await ask(corpus)
    assert first_of(answer) == newer
    assert "(in force; it is older)." in answer["note"]


async def test_nothing_is_decided_where_nothing_tells(corpus: Server) -> None:
    await corpus.ingest(document("guide.md", 145, authority="board"), document("policy.md", 110, authority="council"))
    answer = await ask(corpus)
    assert "(in force; their authorities cannot be compared)." in answer["note"]


async def test_who_asks_for_the_lower_document_by_name_is_answered_from_it(corpus: Server) -> None:
    await corpus.ingest(document("guide.md", 145, authority=1), document("policy.md", 110, authority=2))
    answer = await ask(corpus, question=f"According to the guide: {QUESTION}", filter={"$key": "guide.md"})
    assert (first_of(answer), answer["note"].count("says otherwise")) == ("guide.md", 0)
    answer = await ask(corpus, question="What hotel limit of Aldermoor Trust does the Guide tell?")
    assert "says otherwise" in answer["note"]


@pytest.mark.parametrize(
    "other",
    [
        document("other.md", 145),
        document("other.md", 110, authority=2),
        document("policy-2099.md", 145, valid_from="2099-01-01"),
        document("other.md", 145, valid_to="2020-01-01", authority=2),
    ],
    ids=["another subject", "the same", "not yet", "no more"],
)
async def test_what_is_not_in_force_or_no_conflict_is_not_told(corpus: Server, other: dict[str, Any]) -> None:
    await corpus.ingest(document("policy.md", 110, authority=1), other)
    answer = await ask(corpus, filter={"$key": {"$ne": "canteen.md"}})
    assert "says otherwise" not in answer["note"]


async def test_few_documents_are_compared_and_told(corpus: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[object] = []
    compare = conflicts._compare

    async def count(*arguments: Any) -> Any:
        compared.append(arguments)
        return await compare(*arguments)

    monkeypatch.setattr(conflicts, "_compare", count)
    days = {"valid_from": "2021-01-01"}
    await corpus.ingest(*(document(f"hotels-{year}.md", year - 1900, **days) for year in range(2001, 2012)))
    answer = await ask(corpus)
    assert len(compared) <= 2 * pairs._MOST_COMPARED
    assert answer["note"].count("says otherwise") == conflicts._MOST_TOLD


async def test_of_a_large_family_few_documents_are_looked_at(corpus: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [f"report v{at // 100}.{at % 100}.md" for at in range(2_000)]
    versions = [DocumentRef(id=key, key=key, title=key, metadata={"valid_from": "2021-01-01"}) for key in keys]
    refs = {ref.id: ref for ref in versions}
    people = await corpus.container.record.corpora.get("people")
    selection = Selection(
        day=date(2024, 1, 1),
        parts=(QueryPart(corpus=people, documents=None),),
        registers={"people": Register(refs, NameFinder(refs), [])},
        left_out=0,
    )
    cited = tuple(
        Citation(
            marker=1,
            chunk_id="",
            document=ref,
            page=None,
            quote="It is.",
            answer_span=Span(start=0, end=1),
            source_span=Span(start=0, end=1),
            corpus="people",
        )
        for ref in versions[:50]
    )
    answer = Answer(text="It is.", reasoner="r", citations=cited)
    assert len(pairs.list_pairs(selection, answer, {}, {})) == pairs._MOST_COMPARED
    looked_at: list[str] = []

    def look(pair: Any, _: Register | None) -> bool:
        looked_at.append(pair.cited.id)
        return False

    monkeypatch.setattr(pairs, "_is_of_subject", look)
    assert pairs.list_pairs(selection, answer, {}, {}) == []
    assert len(looked_at) == pairs._MOST_LOOKED_AT
    assert max(Counter(looked_at).values()) <= 2 * pairs._MOST_OF_A_KIND


async def test_a_comparison_that_takes_too_long_is_told(corpus: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conflicts, "_MOST_SECONDS", 0.0)
    await corpus.ingest(document("guide.md", 145, authority=1), document("policy.md", 110, authority=2), CANTEEN)
    answer = await ask(corpus)
    assert "says otherwise" not in answer["note"]
    assert any("too long to be compared in full for conflicts" in note for note in answer["notes"])


async def test_a_document_conflicts_with_nothing_for_whom_it_is_hidden(keys: Keys) -> None:
    server = keys.server
    want_each_change(server)
    hidden = {**document("guide.md", 145, authority=9), "access": ["group:legal"]}
    await server.ingest(document("policy.md", 110, authority=1), hidden)
    sales = await keys.make(Scope.READ, principals=["group:sales"])
    legal = await keys.make(Scope.READ, principals=["group:legal"])
    body = {"question": QUESTION, "reasoner": "extractive"}
    seen = (await sales("POST", f"{CORPUS}/ask", json=body)).json()
    assert first_of(seen) == "policy.md"
    assert not any(word in str(seen) for word in ("guide", "Guide", "145 euros", "otherwise"))
    seen = (await legal("POST", f"{CORPUS}/ask", json=body)).json()
    assert first_of(seen) == "guide.md"
    assert "“Policy” says otherwise" in seen["note"]


async def test_a_document_for_more_readers_does_not_prevail_over_a_document_for_fewer(keys: Keys) -> None:
    server = keys.server
    want_each_change(server)
    await server.ingest(
        {**document("policy.md", 110, authority=1), "access": ["group:legal"]}, document("guide.md", 145, authority=9)
    )
    legal = await keys.make(Scope.READ, principals=["group:legal"])
    seen = (await legal("POST", f"{CORPUS}/ask", json={"question": QUESTION, "reasoner": "extractive"})).json()
    assert "but the writers of one may not change the other" in seen["note"]


async def ingest_answer_of_lower_authority(server: Server, others: Sequence[dict[str, Any]] = ()) -> None:
    """The policy has a heading and is nearer to the question; the guide prevails over it."""
    guide = {**document("guide.md", 145, authority=2), "text": LIMIT.format(145).split("\n\n")[1]}
    await server.ingest(guide, document("policy.md", 110, authority=1), *others, CANTEEN)


Run = Callable[[Extractive, Question, Trace], Awaitable[Answer]]


@pytest.fixture
def wrap_runs(monkeypatch: pytest.MonkeyPatch) -> Callable[[Run], None]:
    """Returns what replaces the runs of `extractive`; the replacement calls `run_extractive`."""
    return lambda run: monkeypatch.setattr(Extractive, "answer", run)


run_extractive: Run = Extractive.answer


async def test_a_survey_lists_documents_of_lower_authority_as_well(corpus: Server) -> None:
    await corpus.ingest(document("guide.md", 145, authority=1), document("policy.md", 110, authority=2), CANTEEN)
    answer = await ask(corpus, question="Which documents tell the hotel limit of Aldermoor Trust?", reasoner="survey")
    assert {row["key"] for row in answer["table"] if row["kind"] == "document"} == {"guide.md", "policy.md"}
    assert "says otherwise" in answer["note"]


async def test_documents_of_two_corpora_with_the_same_keys_are_not_confused(server: Server) -> None:
    for name in ("one", "two"):
        await server.corpus(name, extractor="given", chunker="passage")
    of_two = (document("guide.md", 90, authority=2), document("policy.md", 145, authority=1))
    of_two = tuple({**rule, "text": rule["text"].replace("Aldermoor", "Brackwater"), "entities": []} for rule in of_two)
    await server.ingest(document("guide.md", 110, authority=2), document("policy.md", 110, authority=1), corpus="one")
    await server.ingest(*of_two, corpus="two")
    question = "What is the hotel limit of Aldermoor Trust, and the hotel limit of Brackwater Trust?"
    asked = {"question": question, "reasoner": "extractive", "corpora": ["one", "two"], "k": 10}
    answer = (await server.client.post("/v1/ask", json=asked)).json()
    assert {corpus for corpus, _ in list_contradicted(answer)} == {"two"}
    assert "145 euros" in answer["note"]


@pytest.mark.parametrize("error", [BudgetExhausted, ModelFailed, ModelUnavailable])
async def test_the_first_answer_stays_if_the_question_cannot_be_asked_again(
    corpus: Server, wrap_runs: Callable[[Run], None], error: type[Exception]
) -> None:
    await ingest_answer_of_lower_authority(corpus)
    runs: list[Question] = []

    async def fail_at_the_second(reasoner: Extractive, question: Question, trace: Trace) -> Answer:
        runs.append(question)
        if len(runs) == 2:
            raise error("gone")
        return await run_extractive(reasoner, question, trace)

    wrap_runs(fail_at_the_second)
    answer = await ask(corpus, k=2)
    assert len(runs) == 2
    assert first_of(answer) == "policy.md"
    assert any("asked again of the documents that prevail" in note for note in answer["notes"])
    assert "its authority is higher" in answer["note"]


async def test_the_text_of_the_second_answer_is_not_streamed_behind_the_first(
    corpus: Server, wrap_runs: Callable[[Run], None]
) -> None:
    await ingest_answer_of_lower_authority(corpus)

    async def stream(reasoner: Extractive, question: Question, trace: Trace) -> Answer:
        answer = await run_extractive(reasoner, question, trace)
        trace.emit(TokenEvent(text=answer.text))
        return answer

    wrap_runs(stream)
    texts: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, TokenEvent):
            texts.append(event.text)

    trace = Trace(listeners=[listen])
    request = AskRequest(question=QUESTION, reasoner=StrategySpec(name="extractive"), k=2)
    found = await corpus.container.record.corpora.get("people")
    answer = await ask_questions(corpus.container, found, request, trace)
    assert answer.text.startswith("The hotel limit of Aldermoor Trust is 145 euros")
    (text,) = texts
    assert text.startswith("The hotel limit of Aldermoor Trust is 110 euros")


async def test_a_verification_asks_without_the_document_that_does_not_count(
    corpus: Server, wrap_runs: Callable[[Run], None]
) -> None:
    await ingest_answer_of_lower_authority(corpus)
    runs: list[Answer] = []

    async def collect(reasoner: Extractive, question: Question, trace: Trace) -> Answer:
        runs.append(await run_extractive(reasoner, question, trace))
        return runs[-1]

    wrap_runs(collect)
    answer = await ask(corpus, verify=True, k=2)
    assert first_of(answer) == "guide.md"
    read = [{hit.document.key for step in run.steps for hit in step.hits} for run in runs]
    assert "policy.md" in read[0]
    assert len(read) > 2
    assert not any("policy.md" in keys for keys in read[1:])


@pytest.mark.parametrize("error", [ModelUnavailable, ModelFailed])
async def test_an_answer_stays_if_documents_with_an_authority_cannot_be_searched(
    corpus: Server, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    await corpus.ingest(document("guide.md", 145, authority=1), document("policy.md", 145, authority=2), CANTEEN)

    async def fail(*_: object) -> SearchResult:
        raise error("gone")

    monkeypatch.setattr(Fused, "search", fail)
    answer = await ask(corpus, searcher="sparse")
    assert "145 euros" in answer["answer"]
    assert any("documents with an authority could not be searched" in note for note in answer["notes"])
