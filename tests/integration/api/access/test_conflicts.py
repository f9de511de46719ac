"""A document in force that contradicts what an answer cites is named with its words; the higher authority counts."""

from typing import Any

import pytest

from app.services.validity import conflicts
from core.keys import Scope
from tests.integration.api.access.conftest import Keys
from tests.integration.api.conftest import Server, want_each_change
from tests.integration.api.test_validity import CANTEEN, CORPUS

LIMIT = "# Hotels\n\nThe hotel limit of Aldermoor Trust is {} euros per night."
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
    await corpus.ingest(
        *(document(key, limit, authority=1 + (key == higher)) for key, limit in limits.items()), CANTEEN
    )
    answer = await ask(corpus)
    assert first_of(answer) == higher
    assert f"{limits[higher]} euros" in answer["answer"]
    words = f"The hotel limit of Aldermoor Trust is {limits[lower]} euros per night."
    assert f"says otherwise: “{words}” (in force; its authority is lower)." in answer["note"]
    (relation,) = answer["citations"][0]["validity"]["relations"]
    assert (relation["kind"], relation["key"], relation["statement"]["text"]) == ("contradicts", lower, words)
    assert relation["problem"] == "its authority is lower"


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
    assert len(compared) <= 2 * conflicts._MOST_COMPARED
    assert answer["note"].count("says otherwise") == conflicts._MOST_TOLD


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
    assert not any(word in str(seen) for word in ("guide", "Guide", "145", "otherwise"))
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
