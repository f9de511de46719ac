"""Links of hits, citations and quotes to the web page, where the server has a public address."""

from pathlib import Path
from typing import Any

import pytest

from core.settings import ApiSettings
from tests.integration.api.asking import ASK, KEY, QUESTION, asking, events
from tests.integration.api.conftest import ADA, MakeServer
from tests.twins.chat_server import ChatServer, Reply

_PUBLIC = "https://search.example"
_ANSWER = {"answer": "Ada Lovelace [1].", "support": "stated", "unstated": ""}


def _link(corpus: str, document: dict[str, Any], chunk_id: str) -> str:
    return f"{_PUBLIC}/c/{corpus}/documents/{document['id']}?chunk={chunk_id}"


@pytest.mark.parametrize("public_url", [_PUBLIC, f"{_PUBLIC}/", ""])
async def test_hits_have_links(make_server: MakeServer, public_url: str) -> None:
    server = await make_server(ApiSettings(public_url=public_url))
    for corpus in ("people", "others"):
        await server.corpus(corpus)
        await server.ingest({**ADA, "key": f"of {corpus}", "text": f"{ADA['text']} In {corpus}."}, corpus=corpus)
    body = {"query": QUESTION, "corpora": ["people", "others"], "k": 5}
    hits = (await server.client.post("/v1/search", json=body)).json()["hits"]
    assert {hit["corpus"] for hit in hits} == {"people", "others"}
    for hit in hits:
        expected = _link(hit["corpus"], hit["document"], hit["chunk"]["id"]) if public_url else None
        assert hit["link"] == expected


async def test_citations_steps_and_events_have_links(tmp_path: Path) -> None:
    with ChatServer(api_key=KEY) as chat:
        async with asking(tmp_path, chat, api=ApiSettings(public_url=_PUBLIC)) as server:
            chat.script += [Reply.json(_ANSWER), Reply.json(_ANSWER)]
            answer = (await server.client.post(ASK, json={"question": QUESTION})).json()
            stream = await server.client.post(ASK, json={"question": QUESTION, "stream": True})
    [citation] = answer["citations"]
    assert citation["link"] == _link("people", citation["document"], citation["chunk_id"])
    [step] = answer["steps"]
    for hit in step["hits"]:
        assert hit["link"] == _link("people", hit["document"], hit["chunk"]["id"])
    told = events(stream.text)
    [end] = [one.data for one in told if one.event == "answer"]
    assert end["citations"][0]["link"] == citation["link"]


async def test_a_stored_question_has_links_to_the_corpus_of_today(tmp_path: Path) -> None:
    with ChatServer(api_key=KEY, respond=lambda _: Reply.json(_ANSWER)) as chat:
        async with asking(tmp_path, chat, api=ApiSettings(public_url=_PUBLIC)) as server:
            asked = await server.client.post("/v1/corpora/people/questions", json={"question": QUESTION})
            id = asked.json()["id"]
            stream = await server.client.get(f"/v1/corpora/people/questions/{id}/events")
            renamed = await server.client.patch("/v1/corpora/people", json={"name": "persons"})
            assert renamed.status_code == 200, renamed.text
            shown = (await server.client.get(f"/v1/corpora/persons/questions/{id}")).json()
    [end] = [one.data for one in events(stream.text) if one.event == "answer"]
    [citation] = end["citations"]
    assert citation["link"] == _link("people", citation["document"], citation["chunk_id"])
    [citation] = shown["answer"]["citations"]
    assert citation["link"] == _link("persons", citation["document"], citation["chunk_id"])
    for hit in shown["answer"]["steps"][0]["hits"]:
        assert hit["link"] == _link("persons", hit["document"], hit["chunk"]["id"])
