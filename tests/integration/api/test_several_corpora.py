"""Several corpora in one search or question: one ranking, and each hit names its corpus."""

from typing import Any

import httpx
import pytest

from core.keys import Scope
from tests.integration.api.access.conftest import Keys, keys
from tests.integration.api.conftest import ADA, BABBAGE, BEIDA, Server

__all__ = ["keys"]

QUERY = "Who wrote the first program?"


@pytest.fixture
async def split(server: Server) -> Server:
    """The corpora `one` and `two`, and `all` with the documents of both."""
    for name in ("one", "two", "all"):
        await server.corpus(name)
    await server.ingest(ADA, BEIDA, corpus="one")
    await server.ingest(BABBAGE, ADA, corpus="two")
    await server.ingest(ADA, BABBAGE, BEIDA, corpus="all")
    return server


async def search(server: Server, *corpora: str, **body: Any) -> httpx.Response:
    return await server.client.post("/v1/search", json={"query": QUERY, "corpora": list(corpora), **body})


async def test_hits_are_of_all_corpora_and_name_theirs(split: Server) -> None:
    for searcher in ("bridged", "dense", "fine", "fused", "graph", "sparse"):
        answer = (await search(split, "one", "two", searcher=searcher, k=10)).json()
        of = {hit["document"]["key"]: hit["corpus"] for hit in answer["hits"]}
        assert of["ada"] == "one", searcher
        assert of.get("notes/babbage", "two") == "two"
        assert len({hit["chunk"]["id"] for hit in answer["hits"]}) == len(answer["hits"])
        scores = [hit["score"] for hit in answer["hits"]]
        assert scores == sorted(scores, reverse=True)
        assert (answer["generation"], set(answer["generations"])) == (None, {"one", "two"})
    several = (await search(split, "one", "two", searcher="dense", k=10)).json()["hits"]
    one = (await search(split, "all", searcher="dense", k=10)).json()["hits"]
    keys_of = [[hit["document"]["key"] for hit in hits] for hits in (several, one)]
    assert keys_of[0] == keys_of[1], "by cosine, the ranking is that of one corpus with all documents"
    hits = (await search(split, "one", "two", filter={"year": 1837}, searcher="dense")).json()["hits"]
    assert [(hit["corpus"], hit["document"]["key"]) for hit in hits] == [("two", "notes/babbage")]


async def test_documents_of_two_corpora_with_one_key_are_two_documents(server: Server) -> None:
    for name, text in (("one", "Ada Lovelace wrote the first program."), ("two", "The first program was long.")):
        await server.corpus(name)
        await server.ingest({"key": "same", "title": "Program", "text": text}, corpus=name)
    hits = (await search(server, "one", "two", group_by="document", context=1)).json()["hits"]
    assert {(hit["corpus"], hit["document"]["key"]) for hit in hits} == {("one", "same"), ("two", "same")}


async def test_a_rare_word_of_one_corpus_comes_before_names_of_another(server: Server) -> None:
    for name in ("codes", "people"):
        await server.corpus(name)
    others = [{"key": f"c{n}", "title": f"Part {n}", "text": f"Part {n} of the manual is on valves."} for n in range(9)]
    rare = {"key": "rare", "title": "Faults", "text": "The fault glp_ios_mip_gap is cleared by a restart."}
    await server.ingest(rare, *others, corpus="codes")
    text, title = "Ada Lovelace saw gap {} in a program.", "Ada Lovelace, part {}"
    people = [{"key": f"p{n}", "title": title.format(n), "text": text.format(n)} for n in range(9)]
    await server.ingest(*people, corpus="people")
    for searcher in ("bridged", "fused"):
        asked = {"query": "Did Ada Lovelace see glp_ios_mip_gap?", "searcher": searcher, "k": 5}
        hits = (await search(server, "codes", "people", **asked)).json()["hits"]
        assert "rare" in [hit["document"]["key"] for hit in hits[:3]], searcher
        hits = (await search(server, "people", "codes", **{**asked, "query": "glp_ios_mip_gap"})).json()["hits"]
        assert hits[0]["document"]["key"] == "rare"


async def test_a_wrong_list_is_one_clear_error(split: Server) -> None:
    many = [f"c{n}" for n in range(17)]
    wrong = (([], "`corpora` is empty"), (["one", "two", "one"], "'one' twice"), (many, "at most 16"))
    for corpora, said in wrong:
        for action, word in (("search", "query"), ("ask", "question")):
            answer = await split.client.post(f"/v1/{action}", json={word: QUERY, "corpora": corpora})
            assert (answer.status_code, said in answer.json()["detail"]) == (422, True)
    answer = await search(split, "one", "nowhere")
    assert (answer.status_code, "nowhere" in answer.json()["detail"]) == (404, True)


async def test_citations_name_their_corpus(split: Server) -> None:
    body = {"question": "Where did Babbage design the Analytical Engine?", "corpora": ["one", "two"]}
    answer = (await split.client.post("/v1/ask", json={**body, "reasoner": "extractive:min_probability=0"})).json()
    where = {"ada": {"one", "two"}, "beida": {"one"}, "notes/babbage": {"two"}}
    assert answer["citations"]
    assert all(cited["corpus"] in where[cited["document"]["key"]] for cited in answer["citations"])
    assert {hit["corpus"] for step in answer["steps"] for hit in step["hits"]} == {"one", "two"}
    setting = {"top_k": 5, "score_threshold": 0}
    body = {"knowledge_id": "one, two", "query": QUERY, "retrieval_setting": setting}
    records = (await split.client.post("/dify/retrieval", json=body)).json()["records"]
    assert {record["metadata"]["corpus"] for record in records} == {"one", "two"}, "and records of Dify"


async def test_notes_name_their_corpus(split: Server) -> None:
    for searcher, names in (("fused", "graph: "), ("bridged", "graph: "), ("fine", "fine: ")):
        body = {"query": "of whom and when?", "searcher": searcher, "explain": True}
        answer = await split.client.post("/v1/search", json={**body, "corpora": ["one", "two"]})
        notes = answer.json()["notes"]
        assert all(any(note.startswith(f"corpus '{name}': {names}") for note in notes) for name in ("one", "two"))
        assert all(note.startswith("corpus '") for note in notes)
        alone = await split.client.post("/v1/corpora/one/search", json=body)
        assert any(note.startswith(names) for note in alone.json()["notes"]), "one corpus needs no name"


async def test_a_corpus_that_a_key_may_not_see_is_a_404(keys: Keys) -> None:
    holder = await keys.make(Scope.READ, corpora=["people"])
    for action, text in (("search", "query"), ("ask", "question")):
        body = {text: QUERY, "corpora": ["people", "clandestine"]}
        answer = await holder("POST", f"/v1/{action}", json=body)
        assert answer.status_code == 404
        unknown = await holder("POST", f"/v1/{action}", json={**body, "corpora": ["people", "no-such"]})
        assert answer.json()["detail"].replace("clandestine", "no-such") == unknown.json()["detail"]


async def test_the_filter_of_a_key_holds_in_each_corpus(keys: Keys) -> None:
    holder = await keys.make(Scope.READ, where={"team": "open"})
    for searcher in ("bridged", "dense", "sparse", "graph"):
        body = {"query": "Who sold the Quixotic Ledger?", "corpora": ["people", "clandestine"], "searcher": searcher}
        answer = await holder("POST", "/v1/search", json={**body, "k": 20, "explain": True})
        assert answer.status_code == 200
        assert {hit["document"]["key"] for hit in answer.json()["hits"]} <= {"open/ada"}
        assert "xylophone" not in answer.text.lower()
