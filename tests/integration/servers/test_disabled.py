"""Disabled documents on real servers: Milvus and Neo4j keep their entries, and no searcher finds them."""

from dataclasses import replace

import pytest

from core.corpora import Corpus, Fine
from core.ids import document_id
from core.ports.retrieval import Query
from core.strategies import StrategySpec, build
from core.trace import Trace
from retrieval import SEARCHERS, RetrievalBackends, SnapshotCache
from tests.desk import Desk

pytestmark = pytest.mark.servers

_SAME = "Ada Lovelace wrote the first program for the Analytical Engine."
_OTHER = "Ada Lovelace met Charles Babbage at a party in London."
_SEARCHERS = ("dense", "sparse", "graph", "fused", "bridged")
_HIDDEN = [f"hidden {number}" for number in range(60)]


async def test_disabled_documents_leave_their_places_to_others(served: Desk) -> None:
    corpus = await served.corpus("people", extractor="pattern", fine=Fine.ON)
    documents = [{"id": key, "text": f"{_SAME} {key}"} for key in _HIDDEN]
    await served.ingest(corpus, *documents, {"id": "other", "text": _OTHER}, {"id": "kept", "text": _SAME})
    entries = await served.view_ids(corpus)
    assert all(set(_HIDDEN) & found for found in await _find(served, corpus, k=10))
    ids = [document_id(key) for key in _HIDDEN]
    assert len(await served.record.submissions.set_enabled(corpus.id, ids, enabled=False)) == len(ids)
    assert await _find(served, corpus, k=2) == [{"kept", "other"}] * len(_SEARCHERS)
    assert await served.view_ids(corpus) == entries, "the views keep their entries"
    changed = [{"id": key, "text": f"{_SAME} {key}, again"} for key in _HIDDEN[:3]]
    await served.ingest(corpus, *changed)
    assert await _find(served, corpus, k=10) == [{"kept", "other"}] * len(_SEARCHERS), "a new revision stays disabled"
    await served.record.submissions.set_enabled(corpus.id, ids, enabled=True)
    assert all(set(_HIDDEN) & found for found in await _find(served, corpus, k=10))


async def _find(desk: Desk, corpus: Corpus, *, k: int) -> list[set[str]]:
    """Returns the keys of what each searcher finds."""
    backends = RetrievalBackends(
        vectors=desk.vectors,
        text=desk.text,
        documents=desk.record.documents,
        contents=desk.record.contents,
        snapshots=SnapshotCache(desk.record.graph),
        embedder=desk.embedder,
        searchers=None,
    )
    backends = replace(backends, searchers=lambda spec: build(SEARCHERS, spec, "searcher", backends))
    built = [build(SEARCHERS, StrategySpec(name=name, options={}), "searcher", backends) for name in _SEARCHERS]
    query = Query(corpus=corpus, text="Who wrote the first program? Ada Lovelace", k=k)
    return [{hit.document.key for hit in (await one.search(query, Trace())).hits} for one in built]
