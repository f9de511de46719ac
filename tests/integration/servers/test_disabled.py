"""Disabled documents on real servers: Milvus and Neo4j keep their entries, and no searcher finds them."""

from collections.abc import Sequence
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
_HIDDEN = [f"hidden {number}" for number in range(60)]


@pytest.mark.parametrize("searcher", ["dense", "sparse", "graph", "fused", "bridged"])
async def test_disabled_documents_leave_their_places_to_others(served: Desk, searcher: str) -> None:
    corpus = await served.corpus("people", extractor="pattern", fine=Fine.ON)
    documents = [{"id": key, "text": f"{_SAME} {key}"} for key in _HIDDEN]
    await served.ingest(corpus, *documents, {"id": "other", "text": _OTHER}, {"id": "kept", "text": _SAME})
    entries = await served.view_ids(corpus)
    assert set(_HIDDEN) & set(await _keys(served, corpus, searcher, k=10))
    ids = [document_id(key) for key in _HIDDEN]
    assert len(await served.record.submissions.set_enabled(corpus.id, ids, enabled=False)) == len(ids)
    assert set(await _keys(served, corpus, searcher, k=2)) == {"kept", "other"}
    assert await served.view_ids(corpus) == entries, "the views keep their entries"
    changed = [{"id": key, "text": f"{_SAME} {key}, again"} for key in _HIDDEN[:3]]
    await served.ingest(corpus, *changed)
    assert set(await _keys(served, corpus, searcher, k=10)) == {"kept", "other"}, "a new revision stays disabled"
    await served.record.submissions.set_enabled(corpus.id, ids, enabled=True)
    assert set(_HIDDEN) & set(await _keys(served, corpus, searcher, k=10))


async def _keys(desk: Desk, corpus: Corpus, searcher: str, *, k: int) -> Sequence[str]:
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
    built = build(SEARCHERS, StrategySpec(name=searcher, options={}), "searcher", backends)
    found = await built.search(Query(corpus=corpus, text="Who wrote the first program? Ada Lovelace", k=k), Trace())
    return [hit.document.key for hit in found.hits]
