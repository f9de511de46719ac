"""Made questions, as the holder of a key with a filter gets them."""

import json
from typing import Any

import pytest

from app.services.made_questions import making
from app.services.made_questions.material import Material
from core.keys import Scope
from tests.integration.api.access.conftest import Keys
from tests.integration.api.conftest import want_each_change
from tests.integration.api.test_made_questions import HOTELS, PRESSES

CORPUS = "/v1/corpora/hotels"


@pytest.mark.parametrize("hidden", ["by filter", "by access"])
async def test_a_key_gets_questions_of_its_documents_alone(keys: Keys, hidden: str) -> None:
    server = keys.server
    await server.corpus("hotels")
    private = {"access": ["group:legal"]} if hidden == "by access" else {}
    await server.ingest(HOTELS, {**PRESSES, **private}, corpus="hotels")
    want_each_change(server)
    whole = (await server.client.post(f"{CORPUS}/made-questions", json={})).json()
    assert "Orell" in json.dumps(whole)
    if hidden == "by filter":
        holder = await keys.make(Scope.READ, where={"team": "open"})
    else:
        holder = await keys.make(Scope.READ, principals=["group:sales"])
    made = await holder("POST", f"{CORPUS}/made-questions", json={"count": 500})
    assert made.status_code == 200, made.text
    assert "Rooms" in made.text
    for secret in ("Orell", "Vell", "presses", "Quixotic"):
        assert secret not in made.text
    asked = [row for row in whole["questions"] if row["answerable"]]
    measured = await holder("POST", f"{CORPUS}/measurements", json={"questions": asked, "searchers": ["sparse"]})
    unknown = [{**row, "supporting": ["nothing"]} for row in asked if "presses" in row["supporting"]]
    missing = await holder("POST", f"{CORPUS}/measurements", json={"questions": unknown, "searchers": ["sparse"]})
    assert measured.json()["gone"] == missing.json()["gone"] == [row["id"] for row in unknown] != []
    assert measured.json()["asked"] == len(asked) - len(unknown)


@pytest.mark.parametrize("change", ["deleted", "taken away"])
async def test_no_question_quotes_a_document_that_was_deleted_or_taken_away_meanwhile(
    keys: Keys, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    server = keys.server
    await server.corpus("hotels")
    await server.ingest(HOTELS, PRESSES, corpus="hotels")
    want_each_change(server)
    holder, admin = await keys.make(Scope.READ, principals=["group:sales"]), await keys.make(*Scope)
    read = making.read_material

    async def change_after_reading(*arguments: Any, **named: Any) -> Material:
        material = await read(*arguments, **named)
        if change == "deleted":
            done = await admin("POST", f"{CORPUS}/documents/delete", json={"keys": ["presses"]})
        else:
            access = {"keys": ["presses"], "access": ["group:legal"]}
            done = await admin("POST", f"{CORPUS}/documents/access", json=access)
        assert done.status_code < 300, done.text
        return material

    monkeypatch.setattr(making, "read_material", change_after_reading)
    made = await holder("POST", f"{CORPUS}/made-questions", json={"count": 500})
    assert made.status_code == 409, made.text
    assert "Orell" not in made.text


async def test_a_key_without_the_scope_makes_none(keys: Keys) -> None:
    await keys.server.corpus("hotels")
    await keys.server.ingest(HOTELS, corpus="hotels")
    holder = await keys.make(Scope.WRITE)
    asked = {"questions": [{"id": "1", "question": "Rooms?", "supporting": ["hotels"]}], "searchers": ["sparse"]}
    for path, body in (("made-questions", {}), ("measurements", asked)):
        assert (await holder("POST", f"{CORPUS}/{path}", json=body)).status_code == 403
