"""What every searcher does, over the real embedded stores; a subclass gives `searcher`.

`World` is a corpus on disk that documents can be put into and taken from, as the indexer would. With `fine=Fine.ON` its
entities and facts have vectors; with `asserting` each passage states something of its title and every name in its text.
"""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from core import ids
from core.corpora import Corpus, CorpusSettings, Fine
from core.documents import Chunk, OnConflict
from core.graph import Fact, Mention, Synonym
from core.ports.chat import ChatModels
from core.ports.embedding import Embedder
from core.ports.record import ChunkRow, Claim, Commit, NewRevision
from core.ports.reranking import Reranker
from core.ports.retrieval import Query, Searcher, SearchResult
from core.ports.views import TextEntry, VectorBatch, VectorKind
from core.strategies import StrategySpec, build
from core.text.name_spans import find_names
from core.text.names import normalise
from core.text.terms import extract_terms
from core.trace import Trace
from retrieval import SEARCHERS, RetrievalBackends, SnapshotCache
from retrieval.backends import WebAccess
from stores.sqlite.record import SqliteRecord
from stores.sqlite.vectors import SqliteVectorStore
from stores.tantivy import TantivyTextIndex
from tests.twins.embedder import TwinEmbedder

__all__ = ["Passage", "SearcherContract", "World", "open_world"]


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A document of one chunk; names are found by pattern, `names` and `triples` come on top."""

    key: str
    title: str
    text: str
    names: tuple[str, ...] = ()
    triples: tuple[tuple[str, str, str], ...] = ()

    @property
    def embedded(self) -> str:
        return f"{self.title}\n{self.text}"


@dataclass(kw_only=True)
class World:
    """One corpus over SQLite and tantivy in a folder."""

    record: SqliteRecord
    vectors: SqliteVectorStore
    text: TantivyTextIndex
    embedder: Embedder
    backends: RetrievalBackends
    corpus: Corpus
    asserting: bool = False

    async def put(self, passages: Sequence[Passage], synonyms: Sequence[tuple[str, str, float]] = ()) -> int:
        """Index the passages in one commit; returns the generation."""
        passages = [_asserting(passage) for passage in passages] if self.asserting else passages
        await self.record.intake.enqueue(self.corpus.id, [_revision(p) for p in passages], OnConflict.REPLACE)
        by_key = {passage.key: passage for passage in passages}
        claims = await self._claims(len(passages))
        commits = [_commit(claim, by_key[claim.key]) for claim in claims]
        vectors = await self.embedder.embed_passages([by_key[claim.key].embedded for claim in claims])
        view_ids = [commit.chunks[0].chunk.view_id for commit in commits]
        documents = [claim.document_id for claim in claims]
        batch = VectorBatch(ids=view_ids, documents=documents, vectors=vectors)
        await self.vectors.write(self.corpus.id, VectorKind.CHUNK, batch)
        entries = [
            TextEntry(id=view_id, document_id=claim.document_id, text=by_key[claim.key].embedded)
            for view_id, claim in zip(view_ids, claims, strict=True)
        ]
        await self.text.write(self.corpus.id, entries)
        if self.corpus.settings.fine is Fine.ON:
            await self._write_fine(commits)
        outcome = await self.record.work.commit(commits, [_synonym(*one) for one in synonyms], grace=0.0)
        return outcome.generation

    async def remove(self, keys: Sequence[str], *, keep_views: bool = True) -> int:
        """Delete documents from the record, and (if asked) from the views; returns the generation."""
        documents = [ids.document_id(key) for key in keys]
        await self.record.intake.delete_documents(self.corpus.id, documents)
        outcome = await self.record.work.commit(
            [Commit(claim=claim) for claim in await self._claims(len(keys))], grace=0.0
        )
        if not keep_views and outcome.tombstone is not None:
            await self.vectors.delete(self.corpus.id, VectorKind.CHUNK, outcome.tombstone.view_ids)
            await self.text.delete(self.corpus.id, outcome.tombstone.view_ids)
        return outcome.generation

    def searcher(self, name: str, **options: Any) -> Searcher:
        searcher: Searcher = build(SEARCHERS, StrategySpec(name=name, options=options), "searcher", self.backends)
        return searcher

    def query(self, text: str, **fields: Any) -> Query:
        return Query(corpus=self.corpus, text=text, **fields)

    async def _write_fine(self, commits: Sequence[Commit]) -> None:
        names = {mention.entity_id: mention.name for commit in commits for mention in commit.mentions}
        facts = {
            fact.triple_id: f"{names[fact.subject_id]} {fact.predicate} {names[fact.object_id]}"
            for commit in commits
            for fact in commit.facts
        }
        for kind, texts in ((VectorKind.ENTITY, names), (VectorKind.FACT, facts)):
            if texts:
                vectors = await self.embedder.embed_passages(list(texts.values()))
                batch = VectorBatch(ids=list(texts), documents=[""] * len(texts), vectors=vectors)
                await self.vectors.write(self.corpus.id, kind, batch)

    async def _claims(self, count: int) -> list[Claim]:
        claims = await self.record.work.claim(
            self.corpus.id, "test", lease_seconds=60, max_bytes=1 << 40, max_documents=count
        )
        assert len(claims) == count
        return claims


@asynccontextmanager
async def open_world(
    folder: Path,
    embedder: Embedder | None = None,
    *,
    interval: float = 0.0,
    patience: float = 5.0,
    fine: Fine = Fine.OFF,
    models: ChatModels | None = None,
    reranker: Reranker | None = None,
    web: WebAccess | None = None,
    asserting: bool = False,
) -> AsyncIterator[World]:
    """By default snapshots follow every write at once, so that no test depends on time."""
    embedder = embedder or TwinEmbedder(dimension=256)
    record = SqliteRecord(folder / "record.sqlite")
    vectors, text = SqliteVectorStore(folder / "vectors.sqlite"), TantivyTextIndex(folder / "text")
    settings = CorpusSettings(
        chunker="passage",
        extractor="pattern",
        fine=fine,
        embedding_model=embedder.model,
        dimension=embedder.dimension,
    )
    backends = RetrievalBackends(
        vectors=vectors,
        text=text,
        library=record.library,
        snapshots=SnapshotCache(record.graph, interval=interval, patience=patience),
        embedder=embedder,
        models=models,
        reranker=reranker,
        web=web,
        searchers=lambda spec: build(SEARCHERS, spec, "searcher", backends),
    )
    corpus = await record.corpora.create("world", settings)
    try:
        yield World(
            record=record,
            vectors=vectors,
            text=text,
            embedder=embedder,
            backends=backends,
            corpus=corpus,
            asserting=asserting,
        )
    finally:
        await record.close()
        await vectors.close()
        await text.close()
        if reranker is not None:
            await reranker.close()
        if web is not None:
            await web.search.close()


def _asserting(passage: Passage) -> Passage:
    stated = [(passage.title, "has to do with", name.form) for name in find_names(passage.text)]
    return replace(passage, triples=(*passage.triples, *stated))


def _revision(passage: Passage) -> NewRevision:
    content = repr(passage).encode()
    return NewRevision(
        key=passage.key,
        media_type="text/plain",
        content_hash=ids.content_hash(content),
        size=len(content),
        fingerprint=ids.content_hash(content),
        title=passage.title,
        metadata={},
    )


def _commit(claim: Claim, passage: Passage) -> Commit:
    chunk_id = ids.chunk_id(claim.key, passage.text, 0)
    view_id = ids.view_id(chunk_id, ids.embed_hash(passage.title, "", passage.text, "words"))
    chunk = Chunk(
        id=chunk_id,
        document_id=claim.document_id,
        view_id=view_id,
        position=0,
        text=passage.text,
        heading="",
        page=None,
        span=None,
    )
    named = [span.form for span in find_names(passage.text)]
    title = re.sub(r"\s*\([^()]*\)\s*$", "", passage.title)
    named += [title, *passage.names]
    named += [name for subject, _, object_ in passage.triples for name in (subject, object_)]
    forms = {(normalise(form), form) for form in named if normalise(form)}
    mentions = tuple(
        Mention(chunk_id=chunk_id, entity_id=ids.entity_id(name), name=name, form=form, count=1)
        for name, form in sorted(forms)
    )
    facts = {fact.id: fact for fact in (_fact(chunk_id, *triple) for triple in passage.triples)}
    row = ChunkRow(
        chunk=chunk,
        extract_hash=ids.digest("extract", [repr(passage)]),
        tokens=1,
        terms=extract_terms([passage.title], passage.text).tobytes(),
        title_names=(ids.entity_id(normalise(title)),) if normalise(title) else (),
    )
    return Commit(claim=claim, title=passage.title, chunks=(row,), mentions=mentions, facts=tuple(facts.values()))


def _fact(chunk_id: str, subject: str, predicate: str, object_: str) -> Fact:
    subject_id, object_id = ids.entity_id(normalise(subject)), ids.entity_id(normalise(object_))
    triple = ids.triple_id(subject_id, predicate, object_id)
    return Fact(
        id=ids.assertion_id(triple, chunk_id),
        triple_id=triple,
        chunk_id=chunk_id,
        subject_id=subject_id,
        predicate=predicate,
        object_id=object_id,
    )


def _synonym(first: str, second: str, score: float) -> Synonym:
    low, high = sorted([ids.entity_id(normalise(first)), ids.entity_id(normalise(second))])
    return Synonym(first_id=low, second_id=high, score=score)


PASSAGES = (
    Passage(key="a", title="Hello Love", text="Hello Love is a song that was recorded by Hank Snow in Nashville."),
    Passage(key="b", title="Hank Snow", text="Hank Snow was a singer. He died in Madison, Tennessee."),
    Passage(key="c", title="Madison (Tennessee)", text="Madison is a part of Nashville, which borders the river."),
    Passage(key="d", title="Zebra", text="The zebra lives in herds and eats grass in Africa."),
    Passage(key="e", title="Bakery", text="Bread is made of flour and water."),
    Passage(key="f", title="Publix", text="Publix has 44 stores in Tennessee and sells bread."),
)
QUESTION = "Where did the performer of Hello Love die?"
NAMING = "Was Hank Snow ever in Nashville?"


class SearcherContract:
    """Subclasses name the searcher and its options."""

    name: str
    options: dict[str, Any] = {}  # noqa: RUF012 - never written to

    @pytest.fixture
    def parts(self) -> dict[str, Any]:
        """What `open_world` is told beside the folder: backends that this searcher needs."""
        return {}

    @pytest.fixture
    async def world(self, tmp_path: Path, parts: dict[str, Any]) -> AsyncIterator[World]:
        async with open_world(tmp_path, **parts) as world:
            yield world

    async def search(self, world: World, text: str = QUESTION, **fields: Any) -> SearchResult:
        return await world.searcher(self.name, **self.options).search(world.query(text, **fields), Trace())

    async def keys(self, world: World, text: str = QUESTION, **fields: Any) -> list[str]:
        return [hit.document.key for hit in (await self.search(world, text, **fields)).hits]

    async def test_an_empty_corpus_has_no_hit(self, world: World) -> None:
        result = await self.search(world)
        assert result.hits == ()
        assert result.generation == world.corpus.generation

    async def test_the_named_passage_comes_before_the_unrelated(self, world: World) -> None:
        await world.put(PASSAGES)
        keys = await self.keys(world, k=6)
        assert keys[0] in {"a", "b"}
        assert "a" in keys[:2]

    async def test_at_most_k_hits_best_first_each_once(self, world: World) -> None:
        await world.put(PASSAGES)
        for k in (1, 2, 1000):
            hits = (await self.search(world, k=k)).hits
            scores = [hit.score for hit in hits]
            assert 0 < len(hits) <= k
            assert scores == sorted(scores, reverse=True)
            assert len({hit.chunk.id for hit in hits}) == len(hits)

    async def test_fewer_hits_are_the_beginning_of_more(self, world: World) -> None:
        await world.put(PASSAGES)
        assert await self.keys(world, k=2) == (await self.keys(world, k=4))[:2]

    async def test_ties_go_by_chunk_id(self, world: World) -> None:
        await world.put([replace(PASSAGES[0], key=f"twin {i}") for i in range(8)])
        found = [hit.chunk.id for hit in (await self.search(world, k=5)).hits]
        assert found == sorted(found)
        assert found == sorted(ids.chunk_id(f"twin {i}", PASSAGES[0].text, 0) for i in range(8))[:5]

    async def test_only_the_documents_that_were_asked_for(self, world: World) -> None:
        await world.put(PASSAGES)
        chosen = frozenset(ids.document_id(key) for key in ("b", "f"))
        assert set(await self.keys(world, "Hank Snow in Tennessee", k=6, documents=chosen)) == {"b", "f"}
        assert await self.keys(world, documents=frozenset()) == []

    async def test_hits_that_are_too_dissimilar_are_dropped(self, world: World) -> None:
        await world.put(PASSAGES)
        question = await world.embedder.embed_query(QUESTION)
        passages = await world.embedder.embed_passages([p.embedded for p in PASSAGES])
        cosines = dict(zip([p.key for p in PASSAGES], passages @ question, strict=True))
        least = sorted(cosines.values())[-2] - 1e-4
        assert set(await self.keys(world, k=6, min_similarity=float(least))) <= {
            key for key, cosine in cosines.items() if cosine >= least
        }
        assert await self.keys(world, k=6, min_similarity=1.1) == []

    async def test_what_the_record_lacks_is_no_hit_though_the_views_hold_it(self, world: World) -> None:
        await world.put(PASSAGES)
        before = await self.keys(world, NAMING, k=2)
        await world.remove(before[:1], keep_views=True)
        after = await self.keys(world, NAMING, k=2)
        assert before[0] not in after
        assert before[1] in after

    async def test_what_vanished_after_the_snapshot_is_replaced_by_the_next_best(
        self, tmp_path: Path, parts: dict[str, Any]
    ) -> None:
        async with open_world(tmp_path, interval=3600, **parts) as world:
            await world.put(PASSAGES)
            before = await self.keys(world, k=3)
            await world.remove(before[:1], keep_views=True)
            assert await self.keys(world, k=2) == before[1:3]

    async def test_the_generation_is_told_and_waited_for(self, tmp_path: Path, parts: dict[str, Any]) -> None:
        async with open_world(tmp_path, interval=3600, **parts) as world:
            await world.put(PASSAGES[:1])
            first = await self.search(world)
            generation = await world.put(PASSAGES[1:])
            assert (await self.search(world)).generation == first.generation
            waited = await self.search(world, "Hank Snow sang Hello Love", k=6, min_generation=generation)
            assert waited.generation == generation
            assert "b" in {hit.document.key for hit in waited.hits}

    async def test_a_question_without_words_is_no_error(self, world: World) -> None:
        await world.put(PASSAGES)
        for text in ("???", "", "  \n", "\U0001f600", "\"'`(: AND", "の"):
            assert len((await self.search(world, text, k=3)).hits) <= 3

    async def test_hits_carry_what_the_record_says(self, world: World) -> None:
        await world.put(PASSAGES)
        hit = (await self.search(world)).hits[0]
        passage = {p.key: p for p in PASSAGES}[hit.document.key]
        assert (hit.chunk.text, hit.document.title) == (passage.text, passage.title)
        assert hit.chunk.document_id == hit.document.id == ids.document_id(passage.key)
