"""Exports: complete, comparable, and safe to open elsewhere."""

import asyncio
import csv
import io
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from app.export.exports import format_cell
from core.ids import entity_id
from tests.integration.api.asgi import make_scope
from tests.integration.api.conftest import ADA, BABBAGE, BEIDA, Server

_NS = {"g": "http://graphml.graphdrawing.org/xmlns"}


async def test_json_lines(people: Server) -> None:
    answer = await people.client.get("/v1/corpora/people/export")
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert answer.headers["content-disposition"] == 'attachment; filename="people.jsonl"'
    kinds = [json.loads(line)["kind"] for line in answer.text.splitlines()]
    assert kinds.count("document") == kinds.count("chunk") == 3
    assert {"entity", "mention"} <= set(kinds)


async def test_canonical_is_the_same_whatever_the_history(people: Server) -> None:
    await people.corpus("other")
    await people.ingest(BEIDA, {**ADA, "text": "An earlier text about London."}, corpus="other")
    await people.ingest(BABBAGE, ADA, {"key": "gone", "text": "Gone With Wind."}, corpus="other")
    await people.client.post("/v1/corpora/other/documents/delete", json={"keys": ["gone"]})
    await people.work("other")
    paths = [f"/v1/corpora/{name}/export?canonical=true" for name in ("people", "other")]
    one, other = [(await people.client.get(path)).content for path in paths]
    assert one == other


async def test_graphml_has_communities_and_legal_characters(server: Server) -> None:
    await server.corpus(extractor="pattern+given", fine="on")
    triples = [["Ada Lovelace", "knew <&>", "Charles Babbage"]]
    await server.ingest({**ADA, "title": 'Ada & <Co> \x01 "quoted"', "triples": triples}, BEIDA)
    answer = await server.client.get("/v1/corpora/people/export", params={"format": "graphml"})
    assert answer.headers["content-type"] == "application/graphml+xml"
    graph = ET.fromstring(answer.content)  # noqa: S314 - our own output
    nodes = graph.findall(".//g:node", _NS)
    ids = {node.get("id") for node in nodes}
    values = [{data.get("key"): data.text for data in node} for node in nodes]
    assert any(value.get("node_label") == 'Ada & <Co> \ufffd "quoted"' for value in values)
    assert all(value["node_community"] is not None for value in values)
    communities = {value["node_label"]: value["node_community"] for value in values if "node_label" in value}
    assert communities["Ada Lovelace"] == communities["Charles Babbage"] != communities["北京大学"]
    edges = graph.findall(".//g:edge", _NS)
    assert {edge.get(end) for edge in edges for end in ("source", "target")} <= ids
    predicates = [data.text for edge in edges for data in edge if data.get("key") == "edge_predicate"]
    assert predicates == ["knew <&>"]
    again = await server.client.get("/v1/corpora/people/export", params={"format": "graphml"})
    assert again.content == answer.content


async def test_csv_disarms_formulas(server: Server) -> None:
    await server.corpus()
    texts = ["=1+1", "+1", "-1", "@SUM(A1)", "＝1+1", 'plain, with "quotes"']
    await server.ingest(*({"key": f"k{n}", "title": text, "text": text} for n, text in enumerate(texts)))
    answer = await server.client.get("/v1/corpora/people/export", params={"format": "csv"})
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
    titles = {row["key"]: row["title"] for row in rows if row["kind"] == "document"}
    assert titles == {f"k{n}": f"'{text}" if n < 5 else text for n, text in enumerate(texts)}


def test_no_cell_begins_as_a_formula() -> None:
    for start in ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"):
        assert format_cell(f"{start}cmd|' /C calc'!A0") == f"'{start}cmd|' /C calc'!A0"
        assert format_cell(f"no {start}") == f"no {start}"


async def test_an_empty_corpus_and_faults(server: Server) -> None:
    await server.corpus()
    for format in ("jsonl", "graphml", "csv"):
        answer = await server.client.get("/v1/corpora/people/export", params={"format": format})
        assert answer.status_code == 200
        if format == "graphml":
            assert ET.fromstring(answer.content).findall(".//g:node", _NS) == []  # noqa: S314 - our own
    assert (await server.client.get("/v1/corpora/people/export", params={"format": "pdf"})).status_code == 422
    assert (await server.client.get("/v1/corpora/nothing/export")).status_code == 404


@pytest.mark.parametrize("format", ["jsonl", "csv"])
async def test_an_export_ends_with_its_client(people: Server, monkeypatch: pytest.MonkeyPatch, format: str) -> None:
    """The client leaves after the first block; reading the record ends, although there is more."""
    exporter, ended = people.container.record.exporter, asyncio.Event()
    read = exporter.rows

    async def rows(corpus_id: str, *, canonical: bool) -> AsyncGenerator[Mapping[str, object]]:
        try:
            while True:
                async with aclosing(read(corpus_id, canonical=canonical)) as found:
                    async for row in found:
                        yield row
        finally:
            ended.set()

    monkeypatch.setattr(exporter, "rows", rows)
    scope = make_scope("/v1/corpora/people/export", query=f"format={format}&canonical=true")
    left = asyncio.Event()

    async def receive() -> dict[str, Any]:
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.body":
            left.set()

    async with asyncio.timeout(120):
        await people.app(scope, receive, send)
        await ended.wait()


async def test_merges_are_edges_and_rows(people: Server) -> None:
    london, ada = entity_id("london"), entity_id("ada lovelace")
    made = await people.client.post(f"/v1/corpora/people/entities/{london}/merge", json={"into": ada})
    assert made.status_code == 200, made.text
    graph = (await people.client.get("/v1/corpora/people/export", params={"format": "graphml"})).text
    edges = [
        (edge.get("source"), edge.get("target"))
        for edge in ET.fromstring(graph).iterfind(".//g:edge", _NS)  # noqa: S314 - our own output
        if edge.findtext("g:data[@key='edge_relation']", namespaces=_NS) == "merged"
    ]
    assert edges == [(london, ada)]
    table = (await people.client.get("/v1/corpora/people/export", params={"format": "csv"})).text
    (row,) = [row for row in csv.DictReader(io.StringIO(table, newline="")) if row["kind"] == "merge"]
    assert (row["from_id"], row["from_name"], row["into_name"]) == (london, "london", "ada lovelace")
