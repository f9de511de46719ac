"""Stored questions belong to the key that asked them, and show only what that key may see now."""

from typing import Any

from api.access.keys import Keyring
from core.ids import document_id
from core.keys import Scope
from tests.integration.api.access.conftest import HIDDEN_DOCUMENT, OPEN_DOCUMENT, SECRETS, Holder, Keys
from tests.integration.api.conftest import Server, want_each_change

_PATH = "/v1/corpora/people/questions"
_OPEN = {"team": "open"}


async def _ask(holder: Holder, question: str = "Who wrote the first program?", **more: Any) -> dict[str, Any]:
    made = await holder("POST", _PATH, json={"question": question, "reasoner": "extractive:min_probability=0", **more})
    assert made.status_code == 202, made.text
    return await _wait(holder, made.json()["id"])


async def _wait(holder: Holder, id: str) -> dict[str, Any]:
    await holder("GET", f"{_PATH}/{id}/events")
    found: dict[str, Any] = (await holder("GET", f"{_PATH}/{id}")).json()
    assert found["state"] == "done", found
    return found


async def test_a_key_sees_only_what_it_has_asked(keys: Keys) -> None:
    first, second = await keys.make(Scope.READ), await keys.make(Scope.ADMIN)
    mine, theirs = [(await _ask(holder))["id"] for holder in (first, second)]
    for holder, own, other in ((first, mine, theirs), (second, theirs, mine)):
        assert [one["id"] for one in (await holder("GET", _PATH)).json()["data"]] == [own]
        for method, path in (("GET", ""), ("GET", "/events"), ("POST", "/cancel"), ("POST", "/again"), ("DELETE", "")):
            assert (await holder(method, f"{_PATH}/{other}{path}")).status_code == 404
        assert (await holder("PATCH", f"{_PATH}/{other}", json={"kept": True})).status_code == 404
    assert (await first("PATCH", f"{_PATH}/{mine}", json={"kept": True})).status_code == 200, "`read` suffices"
    assert (await first("DELETE", f"{_PATH}/{mine}")).status_code == 204


async def test_a_key_reads_continues_and_deletes_only_its_own_responses(keys: Keys) -> None:
    first, second = await keys.make(Scope.READ), await keys.make(Scope.ADMIN)
    asked = {"model": "people:extractive:min_probability=0", "input": "Who wrote the first program?"}
    mine, theirs = [(await holder("POST", "/v1/responses", json=asked)).json()["id"] for holder in (first, second)]
    for holder, own, other in ((first, mine, theirs), (second, theirs, mine)):
        assert [one["id"] for one in (await holder("GET", _PATH)).json()["data"]] == [own[-32:]]
        for method in ("GET", "DELETE"):
            assert (await holder(method, f"/v1/responses/{other}")).status_code == 404
        continued = await holder("POST", "/v1/responses", json={**asked, "previous_response_id": other})
        assert (continued.status_code, continued.json()["error"]["code"]) == (400, "previous_response_not_found")
        assert (await holder("GET", f"/v1/responses/{own}")).json()["status"] == "completed"
        assert (await holder("DELETE", f"/v1/responses/{own}")).json()["deleted"]


async def test_questions_asked_before_there_was_a_key_are_those_of_who_operates_the_server(server: Server) -> None:
    await server.corpus()
    await server.ingest({"key": "ada", "text": "Ada Lovelace wrote the first program."})
    made = await server.client.post(_PATH, json={"question": "Who wrote it?", "reasoner": "extractive"})
    id = made.json()["id"]
    keys = Keys(server)
    reader, operator = await keys.make(Scope.READ), await keys.make(Scope.ADMIN)
    limited = await keys.make(Scope.ADMIN, corpora=["people"])
    own = (await _ask(operator))["id"]
    assert [one["id"] for one in (await operator("GET", _PATH)).json()["data"]] == [own, id]
    page = (await operator("GET", f"{_PATH}?limit=1")).json()
    rest = (await operator("GET", f"{_PATH}?limit=1&cursor={page['next_cursor']}")).json()
    assert [one["id"] for one in (*page["data"], *rest["data"])] == [own, id]
    assert (await operator("GET", f"{_PATH}/{id}")).status_code == 200
    for holder in (reader, limited):
        assert (await holder("GET", _PATH)).json()["data"] == []
        assert (await holder("GET", f"{_PATH}/{id}")).status_code == 404


async def test_keys_of_the_settings_are_several_askers() -> None:
    keyring = Keyring(["one", "two"], lambda: None)  # type: ignore[arg-type, return-value]
    found = [keyring.find(text) for text in ("one", "two")]
    askers = [one.access.asker for one in found if not isinstance(one, str)]
    assert len({*askers, ""}) == 3


async def test_a_filter_holds_for_questions_and_again_when_asked_again(keys: Keys) -> None:
    holder = await keys.make(Scope.READ, where=_OPEN)
    asked = await _ask(holder, "Who sold the ledger to Charles Babbage?", k=50)
    hits = [hit for step in asked["answer"]["steps"] for hit in step["hits"]]
    assert {hit["document"]["key"] for hit in hits} == {OPEN_DOCUMENT["key"]}
    admin = await keys.make(Scope.ADMIN)
    opened = {"documents": [{**HIDDEN_DOCUMENT, "metadata": {"team": "open"}}]}
    assert (await admin("POST", "/v1/corpora/people/documents", json=opened)).status_code == 202
    await keys.server.work("people")
    told = (await holder("GET", f"{_PATH}/{asked['id']}")).text.lower()
    assert not [word for word in SECRETS if word in told]
    again = (await holder("POST", f"{_PATH}/{asked['id']}/again")).json()
    hits = [hit for step in (await _wait(holder, again["id"]))["answer"]["steps"] for hit in step["hits"]]
    assert {hit["document"]["key"] for hit in hits} == {OPEN_DOCUMENT["key"], HIDDEN_DOCUMENT["key"]}


async def test_an_answer_from_what_a_key_may_not_see_any_more_is_withdrawn(keys: Keys) -> None:
    holder = await keys.make(Scope.READ, where=_OPEN)
    asked = await _ask(holder)
    path = f"/v1/corpora/people/documents/{document_id(str(OPEN_DOCUMENT['key']))}"
    admin = await keys.make(Scope.ADMIN)
    changed = await admin("PATCH", path, json={"metadata": {"team": "hidden"}})
    assert changed.status_code == 202, changed.text
    await keys.server.work("people")
    later = (await holder("GET", f"{_PATH}/{asked['id']}")).json()
    assert (later["withdrawn"], later["answer"]) == (True, None)
    told = (await holder("GET", f"{_PATH}/{asked['id']}/events")).text
    assert "Lovelace" not in told
    assert "event: error" in told


async def test_an_answer_that_names_a_version_which_a_key_may_not_see_any_more_is_withdrawn(keys: Keys) -> None:
    admin = await keys.make(Scope.ADMIN)
    keys.server.client = admin.client
    want_each_change(keys.server)
    rules = [
        {"key": f"leave {year}.md", "title": f"Leave Rules {year}", "text": f"Each employee gets {days} days of leave."}
        for year, days in ((2022, 25), (2023, 28))
    ]
    await keys.server.ingest(*({**rule, "metadata": {"team": "open"}} for rule in rules))
    holder = await keys.make(Scope.READ, where=_OPEN)
    asked = await _ask(holder, "How many days of leave does each employee get?", k=1)
    [hit] = [hit for step in asked["answer"]["steps"] for hit in step["hits"]]
    [other] = hit["versions"]
    assert hit["document"]["key"] != other["key"]
    path = f"/v1/corpora/people/documents/{document_id(other['key'])}"
    assert (await admin("PATCH", path, json={"metadata": {"team": "hidden"}})).status_code == 202
    await keys.server.work("people")
    later = (await holder("GET", f"{_PATH}/{asked['id']}")).json()
    assert (later["withdrawn"], later["answer"]) == (True, None)
    assert other["key"] not in (await holder("GET", f"{_PATH}/{asked['id']}/events")).text


async def test_a_deleted_key_takes_its_questions_along(keys: Keys) -> None:
    holder = await keys.make(Scope.READ)
    asked = await _ask(holder)
    await keys.server.container.record.keys.delete(keys.last.id)
    corpus = await keys.server.container.record.corpora.get("people")
    assert asked["id"] not in [one.id for one, _ in await keys.server.container.record.questions.export(corpus.id)]
