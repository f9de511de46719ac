"""Dify's external knowledge API, asked as Dify does."""

from typing import Any

from pydantic import SecretStr

from core.settings import ApiSettings
from tests.integration.api.conftest import MakeServer, Server

_URL = "/dify/retrieval"


def _body(**more: Any) -> dict[str, Any]:
    setting = {"top_k": 3, "score_threshold": 0.0}
    return {"knowledge_id": "people", "query": "Who designed the engine?", "retrieval_setting": setting, **more}


async def test_records_are_the_hits_in_their_order(people: Server) -> None:
    answer = await people.client.post(_URL, json=_body(source="console"))
    assert answer.status_code == 200, answer.text
    records = answer.json()["records"]
    hits = (await people.client.post("/v1/corpora/people/search", json={"query": _body()["query"], "k": 3})).json()
    assert [one["metadata"]["chunk_id"] for one in records] == [hit["chunk"]["id"] for hit in hits["hits"]]
    scores = [one["score"] for one in records]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert all(score >= hit["signals"]["dense"] - 1e-6 for score, hit in zip(scores, hits["hits"], strict=True)), (
        "no record falls below the threshold that it passed"
    )
    babbage = next(one for one in records if one["title"] == "Charles Babbage")
    assert "Analytical Engine" in babbage["content"]
    assert babbage["metadata"]["year"] == 1837
    assert babbage["metadata"]["key"] == "notes/babbage"


async def test_top_k_and_threshold(people: Server) -> None:
    for setting, expected in (({"top_k": 1}, 1), ({"top_k": 3, "score_threshold": 1}, 0)):
        answer = await people.client.post(_URL, json=_body(retrieval_setting=setting))
        assert len(answer.json()["records"]) == expected


_CONDITIONS: tuple[tuple[Any, str, Any, bool], ...] = (
    ("year", "=", "1837", True),
    ("year", "is", 1837, True),
    ("year", "≠", 1837, False),
    (["month", "year"], ">", "1800", True),
    ("year", "≥", 1838, False),
    ("year", "<", 1838, True),
    ("year", "≤", "1836.5", False),
    ("year", "in", [1837, 1838], True),
    ("year", "not in", [1837], False),
    ("year", "empty", None, False),
    ("year", "not empty", None, True),
    ("title", "contains", "Babbage", True),
    ("title", "not contains", "Babbage", False),
    ("key", "start with", "notes/", True),
    ("title", "is not", "Charles Babbage", False),
)


async def test_conditions(people: Server) -> None:
    for name, operator, value, found in _CONDITIONS:
        condition = {"name": name, "comparison_operator": operator} | ({} if value is None else {"value": value})
        conditions = {"logical_operator": "and", "conditions": [condition]}
        answer = await people.client.post(_URL, json=_body(metadata_condition=conditions))
        assert answer.status_code == 200, answer.text
        keys = {one["metadata"]["key"] for one in answer.json()["records"]}
        assert ("notes/babbage" in keys) is found, condition


async def test_conditions_are_joined_and_dates_compared(people: Server) -> None:
    await people.ingest({"key": "dated", "text": "A dated engine.", "metadata": {"published": "2024-05-01"}})
    before = {"name": "published", "comparison_operator": "before", "value": "2024-06-01"}
    other = {"name": "year", "comparison_operator": "=", "value": 1837}
    for operator, expected in (("or", {"dated", "notes/babbage"}), ("and", set()), (None, set())):
        conditions = {"logical_operator": operator, "conditions": [before, other]}
        answer = await people.client.post(_URL, json=_body(metadata_condition=conditions))
        assert {one["metadata"]["key"] for one in answer.json()["records"]} == expected


def _compare(operator: str) -> dict[str, Any]:
    return {"conditions": [{"name": "a", "comparison_operator": operator, "value": "b"}]}


async def test_what_is_refused_has_difys_codes(people: Server) -> None:
    for changes, status, code, said in (
        ({"knowledge_id": "nobody"}, 404, 2001, "nobody"),
        ({"query": ""}, 400, 400, "is empty"),
        ({"retrieval_setting": {"top_k": 0}}, 400, 400, "top_k"),
        ({"metadata_condition": _compare("end with")}, 400, 400, "comparison_operator"),
        ({"metadata_condition": _compare(">")}, 400, 400, "is no number"),
    ):
        answer = await people.client.post(_URL, json=_body(**changes))
        assert (answer.status_code, answer.json()["error_code"]) == (status, code)
        assert said in answer.json()["error_msg"]


async def test_keys_have_difys_codes(make_server: MakeServer) -> None:
    server = await make_server(ApiSettings(keys=[SecretStr("the-key")]))
    for shown, code in ((None, 1001), ("the-key", 1001), ("Bearer wrong", 1002)):
        headers = {"authorization": shown} if shown else {}
        answer = await server.client.post(_URL, json=_body(), headers=headers)
        assert (answer.status_code, answer.json()["error_code"]) == (403, code)
