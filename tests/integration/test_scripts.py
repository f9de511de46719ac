"""Names in any script: stored, linked from a question, and found; none collapses into another."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import retrieval
from core.ids import entity_id
from core.ports.retrieval import Query, Searcher
from core.strategies import StrategySpec, build
from core.text.names import normalise
from core.trace import Trace
from tests.desk import Desk

DOCUMENTS = [
    {"id": "beida", "title": "北京大学", "text": "北京大学是中国的一所大学。《红楼梦》的研究在这里很有名。"},
    {"id": "qinghua", "title": "清华大学", "text": "清华大学也在中国。"},
    {"id": "moskva", "title": "Москва", "text": "Москва — столица России. Здесь жил Лев Толстой."},
    {"id": "kazan", "title": "Казань", "text": "Казань стоит на Волге."},
    {"id": "qahira", "title": "القاهرة", "text": "القاهرة هي عاصمة مصر. كتب نجيب محفوظ عن «خان الخليلي»."},
    {"id": "soren", "title": "Søren Kierkegaard", "text": "Søren Kierkegaard lebte in Kopenhagen."},
    {"id": "soren-ascii", "title": "Soren Johnson", "text": "Soren Johnson designs games."},
    {"id": "strasse", "title": "Straße des 17. Juni", "text": "Die Straße des 17. Juni liegt in Berlin."},
    {"id": "cpp", "title": "C++", "text": "C++ was made by Bjarne Stroustrup."},
    {"id": "csharp", "title": "C#", "text": "C# was made by Anders Hejlsberg."},
]


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    await desk.close()


def searcher_of(desk: Desk, name: str) -> Searcher:
    backends = retrieval.RetrievalBackends(
        vectors=desk.vectors,
        text=desk.text,
        documents=desk.record.documents,
        contents=desk.record.contents,
        snapshots=retrieval.SnapshotCache(desk.record.graph),
        embedder=desk.embedder,
    )
    searcher: Searcher = build(retrieval.SEARCHERS, StrategySpec(name=name), "searcher", backends)
    return searcher


_QUESTIONS = (
    ("北京大学在哪里？", "北京大学", "beida"),
    ("谁研究《红楼梦》？", "红楼梦", "beida"),
    ("Где жил Лев Толстой?", "Лев Толстой", "moskva"),
    ("Что такое Москва?", "Москва", "moskva"),
    ("ما هي القاهرة؟", "القاهرة", "qahira"),
    ("Wo lebte Søren Kierkegaard?", "Søren Kierkegaard", "soren"),
    ("Wo liegt die Straße des 17. Juni?", "Straße des 17. Juni", "strasse"),
    ("Who made C++?", "C++", "cpp"),
    ("Who made C#?", "C#", "csharp"),
)


async def test_a_name_is_linked_and_found(desk: Desk) -> None:
    corpus = await desk.corpus()
    await desk.ingest(corpus, *DOCUMENTS)
    graph, fused, sparse = (searcher_of(desk, name) for name in ("graph", "fused", "sparse"))
    for question, name, key in _QUESTIONS:
        trace = Trace()
        found = await graph.search(Query(corpus=corpus, text=question, k=3), trace)
        assert normalise(name) in {normalise(linked) for linked in found.linked}, question
        assert found.hits[0].document.key == key
        assert trace.notes == []
        best = (await fused.search(Query(corpus=corpus, text=question, k=3), Trace())).hits[0]
        assert best.document.key == key
        named = await sparse.search(Query(corpus=corpus, text=name, k=3), Trace())
        assert key in {hit.document.key for hit in named.hits}


async def test_no_name_collapses_into_another(desk: Desk) -> None:
    corpus = await desk.corpus()
    await desk.ingest(corpus, *DOCUMENTS)
    titles = [str(document["title"]) for document in DOCUMENTS]
    entities = await desk.record.contents.get_entities(corpus.id, [entity_id(normalise(title)) for title in titles])
    assert {entity.display for entity in entities.values()} == set(titles)
