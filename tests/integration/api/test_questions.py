"""Searches and questions over HTTP."""

from pathlib import Path
from typing import Any

import pytest

from tests.integration.api.conftest import ADA, MakeServer, Server
from tests.twins.embedder import TwinEmbedder


async def test_search(people: Server) -> None:
    body = {"query": "Who designed the Analytical Engine?", "k": 2, "explain": True}
    answer = await people.client.post("/v1/corpora/people/search", json=body)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert set(found) == {"hits", "generation", "generations", "notes", "timing", "usage"}
    hit = found["hits"][0]
    assert hit["document"]["key"] == "notes/babbage"
    assert hit["document"]["metadata"] == {"year": 1837}
    assert set(hit["chunk"]) == {"id", "position", "text", "page", "span", "heading"}
    assert hit["signals"]["dense"] is not None
    assert hit["path"][0]["source"] == "Analytical Engine"
    assert len(found["hits"]) <= 2
    assert found["timing"]["total"] > 0


async def test_every_searcher_with_options_in_either_place_and_a_filter(people: Server) -> None:
    searchers = ["dense", "sparse", "graph", "fused", "bridged", "fused:damping=0.7"]
    for more in (
        *({"searcher": name} for name in searchers),
        {"searcher": "fused", "searcher_options": {"damping": 0.7}},
    ):
        body = {"query": "Charles Babbage", **more}
        answer = await people.client.post("/v1/corpora/people/search", json=body)
        assert answer.json()["hits"][0]["document"]["key"] in {"ada", "notes/babbage"}, more
    body = {"query": "Charles Babbage", "filter": {"year": {"$gte": 1800}}}
    hits = (await people.client.post("/v1/corpora/people/search", json=body)).json()["hits"]
    assert [hit["document"]["key"] for hit in hits] == ["notes/babbage"]


async def test_a_hit_says_why_it_is_there_as_far_as_asked(people: Server) -> None:
    async def first(**fields: Any) -> dict[str, Any]:
        body = {"query": "Who designed the Analytical Engine?", "searcher": "bridged", **fields}
        answer = await people.client.post("/v1/corpora/people/search", json=body)
        assert answer.status_code == 200, answer.text
        hit: dict[str, Any] = answer.json()["hits"][0]
        return hit

    for unexplained in (await first(), await first(explain=False)):
        assert (unexplained["path"], unexplained["reasons"], unexplained["contributions"]) == ([], [], {})
    explained = await first(explain=True)
    assert explained["reasons"][0] == "names “Analytical Engine” of the question"
    assert explained["contributions"] == {}
    told = await first(explain="features")
    assert (told["reasons"], told["path"]) == (explained["reasons"], explained["path"])
    assert sum(told["contributions"].values()) == pytest.approx(told["score"], abs=1e-9)
    other = await first(explain="features", searcher="fused")
    assert other["path"]
    assert (other["reasons"], other["contributions"]) == ([], {})


async def test_a_filter_that_matches_nothing_is_noted(people: Server) -> None:
    for path, word in (("search", "query"), ("ask", "question")):
        body = {word: "Who was Charles Babbage?", "filter": {"$or": [{"key": "babbage"}, {"year": 3000}]}}
        found = (await people.client.post(f"/v1/corpora/people/{path}", json=body)).json()
        noted = "the filter matches no document: `key` is a field of the metadata, and `$key` the document's own"
        assert noted in found["notes"]
        body["filter"] = {"$not": {"year": 3000}}
        found = (await people.client.post(f"/v1/corpora/people/{path}", json=body)).json()
        assert not any("filter" in note for note in found["notes"])


async def test_an_answer_from_a_few_passages_to_a_question_of_all_says_so(people: Server) -> None:
    async def ask(question: str, reasoner: str) -> bool:
        body = {"question": question, "reasoner": reasoner}
        notes = (await people.client.post("/v1/corpora/people/ask", json=body)).json()["notes"]
        return any("the reasoner `survey`" in note for note in notes)

    assert await ask("How many letters mention Charles Babbage?", "extractive")
    assert not await ask("How many letters mention Charles Babbage?", "survey")
    assert not await ask("Who was Charles Babbage?", "extractive")


_FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"query": ""}, "empty"),
    ({"query": " \n"}, "empty"),
    ({"query": "x" * 20_001}, "20001"),
    ({"query": "a", "k": 0}, "k"),
    ({"query": "a", "k": 10_000}, "k"),
    ({"query": "a", "filter": {"year": {"$near": 1}}}, "$near"),
    ({"query": "a", "filter": {"year": {"$gt": [1]}}}, "$gt"),
    ({"query": "a", "filter": "year"}, "filter"),
    ({"query": "a", "searcher": "no-such"}, "no-such"),
    ({"query": "a", "searcher": "fused:no_such=1"}, "no_such"),
    ({"query": "a", "searcher_options": {"damping": 0.7}}, "searcher"),
    ({"query": "a", "min_similarity": 2}, "min_similarity"),
    ({"query": "a", "top_k": 3}, "top_k"),
    ({"query": "a", "explain": "all"}, "explain"),
    ({"query": None}, "query"),
    ({}, "query"),
]


async def test_faults_of_a_search(people: Server) -> None:
    for body, named in _FAULTS:
        answer = await people.client.post("/v1/corpora/people/search", json=body)
        assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json"), body
        assert named in answer.json()["detail"]


async def test_ask(people: Server) -> None:
    asked = {"question": "What did Charles Babbage design in London?"}
    answer = await people.client.post("/v1/corpora/people/ask", json=asked)
    assert answer.status_code == 200, answer.text
    said = answer.json()
    assert set(said) == {
        *("answer", "citations", "steps", "usage", "reasoner", "abstained", "support", "note", "notes", "timing"),
        *("verification_cost", "verification", "table"),
    }
    assert said["reasoner"] == "extractive"
    assert (said["abstained"], said["support"]) == (False, "quoted")
    assert said["note"] == "Extractive: this answer only quotes its sources; no language model wrote it."
    citation = said["citations"][0]
    span = citation["answer_span"]
    assert said["answer"][span["start"] : span["end"]] == citation["quote"]
    assert said["steps"][0]["hits"]


async def test_faults_of_a_question(people: Server) -> None:
    for body in (
        {"question": " "},
        {"question": "a", "reasoner": "no-such"},
        {"question": "a", "options": {"sentences": 2}},
        {"question": "a", "history": [{"role": "user"}]},
        {"question": "a", "reasoner": "extractive:sentences=0"},
    ):
        assert (await people.client.post("/v1/corpora/people/ask", json=body)).status_code == 422, body
    for stream in (False, True):
        body = {"question": "Who?", "reasoner": "vanilla", "stream": stream}
        answer = await people.client.post("/v1/corpora/people/ask", json=body)
        assert (answer.status_code, "HOPWEAVE_LLM__MODEL" in answer.json()["detail"]) == (422, True)


async def test_an_empty_corpus_is_no_error(server: Server) -> None:
    await server.corpus()
    found = await server.client.post("/v1/corpora/people/search", json={"query": "anything"})
    assert found.json()["hits"] == []
    said = await server.client.post("/v1/corpora/people/ask", json={"question": "anything?"})
    assert (said.json()["abstained"], said.json()["support"]) == (True, "none")
    assert said.json()["citations"] == []


@pytest.mark.usefixtures("people")
async def test_another_embedding_model_is_refused(make_server: MakeServer) -> None:
    other = await make_server(embedder=TwinEmbedder(model="other"))
    answer = await other.client.post("/v1/corpora/people/search", json={"query": "Ada"})
    assert answer.status_code == 409
    assert "HOPWEAVE_EMBEDDING__MODEL" in answer.json()["detail"]
    assert (await other.add({**ADA, "text": "Other."})).status_code == 409


async def test_malformed_json(people: Server) -> None:
    headers = {"content-type": "application/json"}
    for content in (b"{", b"", b'{"query": "a",}', b"\xff\xfe"):
        answer = await people.client.post("/v1/corpora/people/search", content=content, headers=headers)
        assert answer.status_code == (400 if content else 422), content
        assert answer.headers["content-type"] == "application/problem+json"
    surrogate = b'{"query": "half a pair: \\ud800"}'
    answer = await people.client.post("/v1/corpora/people/search", content=surrogate, headers=headers)
    assert answer.status_code == 422
    deep = b'{"query": "a", "filter": ' + b'{"a":' * 9_000 + b"1" + b"}" * 9_000 + b"}"
    answer = await people.client.post("/v1/corpora/people/search", content=deep, headers=headers)
    assert answer.status_code in {400, 422}
    deepest = b'{"query": "a", "filter": ' + b"[" * 15_000 + b"}"
    for content, why in ((deepest, "nested too deeply"), (b'{"query": "\xff"}', "not UTF-8")):
        answer = await people.client.post("/v1/corpora/people/search", content=content, headers=headers)
        assert answer.status_code == 400
        assert answer.json()["detail"].rpartition(": ")[2].endswith(why), answer.text


async def test_a_ranker_of_this_machine_is_no_business_of_a_request(people: Server, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text("{}")
    for name in (str(file), str(tmp_path / "none.json")):
        body = {"query": "Who knew Babbage?", "searcher": "bridged", "searcher_options": {"ranker": name}}
        answer = await people.client.post("/v1/corpora/people/search", json=body)
        assert answer.status_code == 422
        assert "over HTTP a ranker is one of full, six" in answer.json()["detail"]
        assert name not in answer.text
    body = {"query": "Who knew Babbage?", "searcher": "bridged:ranker=six"}
    assert (await people.client.post("/v1/corpora/people/search", json=body)).status_code == 200
