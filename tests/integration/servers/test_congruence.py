"""The same documents and questions give the same results embedded and on servers."""

from collections.abc import Sequence

import pytest

from core.corpora import Corpus, Fine
from core.ports.retrieval import Query, SearchResult
from core.ports.views import Scored
from core.strategies import StrategySpec, build
from core.text.query import any_of
from core.trace import Trace
from retrieval import SEARCHERS, RetrievalBackends, SnapshotCache
from tests.desk import Desk
from tests.integration.servers.corpus import PASSAGES, documents, questions

pytestmark = pytest.mark.servers

_QUESTIONS = questions(40, seed=5)


async def _fill(desk: Desk) -> Corpus:
    """With a history: a replacement, a deletion, and a document that comes again."""
    corpus = await desk.corpus("world", extractor="pattern+given", fine=Fine.ON)
    drawn = documents(80, seed=1)
    await desk.ingest(corpus, *drawn, *PASSAGES)
    await desk.ingest(corpus, *[{**one, "text": f"{one['text']} More."} for one in drawn[:10]])
    await desk.delete(corpus, *[one["id"] for one in drawn[5:25]])
    await desk.ingest(corpus, *drawn[5:10])
    return corpus


@pytest.fixture
async def both(embedded: Desk, served: Desk) -> Sequence[tuple[Desk, Corpus]]:
    return [(desk, await _fill(desk)) for desk in (embedded, served)]


async def test_they_are_congruent(both: Sequence[tuple[Desk, Corpus]]) -> None:
    """One test, since filling both is what takes the time."""
    here, there = both
    assert await here[0].export(here[1]) == await there[0].export(there[1])
    assert await here[0].view_ids(here[1]) == await there[0].view_ids(there[1])
    await _sparse_is_congruent(here, there)
    for searcher, least in (("dense", 0.99), ("bridged", 0.9), ("fused", 0.9)):
        assert await _overlap(here, there, searcher) >= least, searcher
    await _graph_is_congruent(here, there)


async def _sparse_is_congruent(here: tuple[Desk, Corpus], there: tuple[Desk, Corpus]) -> None:
    """Scores may differ: Neo4j counts in how many passages of all corpora a word is."""
    same = every = shared = 0
    for question in _QUESTIONS:
        ours, theirs = [await _matches(*one, question) for one in (here, there)]
        same += len({one.id for one in ours} & {one.id for one in theirs})
        every += len({one.id for one in ours} | {one.id for one in theirs})
        shared += len({one.id for one in ours[:10]} & {one.id for one in theirs[:10]}) / max(len(ours[:10]), 1)
    assert same / every >= 0.99
    assert shared / len(_QUESTIONS) >= 0.8


async def _matches(desk: Desk, corpus: Corpus, question: str) -> list[Scored]:
    return await desk.text.search(corpus.id, any_of(question.split()), 10_000)


async def _overlap(here: tuple[Desk, Corpus], there: tuple[Desk, Corpus], searcher: str) -> float:
    shares = []
    for question in _QUESTIONS:
        ours, theirs = [await _search(*one, searcher, question) for one in (here, there)]
        top = {hit.chunk.id for hit in ours.hits}
        shares.append(len(top & {hit.chunk.id for hit in theirs.hits}) / max(len(top), 1))
    return sum(shares) / len(shares)


async def _graph_is_congruent(here: tuple[Desk, Corpus], there: tuple[Desk, Corpus]) -> None:
    for question in _QUESTIONS:
        ours, theirs = [await _search(*one, "graph", question, k=200) for one in (here, there)]
        assert [hit.chunk.id for hit in ours.hits] == [hit.chunk.id for hit in theirs.hits]
        assert [hit.score for hit in ours.hits] == pytest.approx([hit.score for hit in theirs.hits], abs=1e-6)


_BACKENDS: dict[int, RetrievalBackends] = {}


async def _search(desk: Desk, corpus: Corpus, searcher: str, question: str, k: int = 10) -> SearchResult:
    backends = _BACKENDS.setdefault(id(desk), _backends(desk))
    built = build(SEARCHERS, StrategySpec(name=searcher, options={}), "searcher", backends)
    result: SearchResult = await built.search(Query(corpus=corpus, text=question, k=k), Trace())
    return result


def _backends(desk: Desk) -> RetrievalBackends:
    return RetrievalBackends(
        vectors=desk.vectors,
        text=desk.text,
        documents=desk.record.documents,
        contents=desk.record.contents,
        snapshots=SnapshotCache(desk.record.graph),
        embedder=desk.embedder,
        searchers=lambda spec: build(SEARCHERS, spec, "searcher", _BACKENDS[id(desk)]),
    )
