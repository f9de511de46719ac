"""The contract of the record about the graph as a whole, and the changes between two generations."""

from dataclasses import replace

import pytest

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict
from core.errors import NotFound
from core.ports.record import Record
from core.text.terms import extract_terms
from testing.graph_rows import told
from testing.record import RecordFixtures, claim_all, commit_of, export, graph_chunk, put, revision

__all__ = ["GraphSourceContract"]


class GraphSourceContract(RecordFixtures):
    async def test_changes_lead_from_one_generation_to_the_next(
        self, record: Record, other: Record, corpus: Corpus
    ) -> None:
        start, _ = await other.graph.graph(corpus.id)
        await put(record, corpus, "a", [("one", ["Ada"]), ("two", ["Bob"])], facts=[("Ada", "met", "Ada")])
        assert await other.graph.generation(corpus.id) > start
        changes = await other.graph.changes(corpus.id, start)
        assert changes is not None
        _, rows = await other.graph.graph(corpus.id)
        assert told(changes.added) == told(rows)
        await put(record, corpus, "a", [("three", ["Cyd"]), ("two", ["Bob"])])
        later = await other.graph.changes(corpus.id, changes.generation)
        assert later is not None
        assert len(later.removed) == 2, "one gone, one new, one untouched"
        assert len(later.added.chunks) == 1
        assert await other.graph.count_changes(corpus.id, changes.generation) == 2
        assert await other.graph.count_changes(corpus.id, start) == 4
        assert await other.graph.count_changes(corpus.id, later.generation) == 0
        nothing = await other.graph.changes(corpus.id, later.generation)
        assert nothing is not None
        assert not nothing.removed

    async def test_the_graphs_chunks_carry_what_was_written_of_them(self, record: Record, corpus: Corpus) -> None:
        await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus)
        commit = commit_of(claim, [("Ada knew two rivers", ["Ada"]), ("", [])])
        named, bare = commit.chunks[0], replace(commit.chunks[1], title_names=(), terms=b"")
        await record.commits.commit([replace(commit, chunks=(named, bare))], grace=0)
        _, rows = await record.graph.graph(corpus.id)
        assert sorted(rows.chunks) == sorted(map(graph_chunk, (named, bare)))
        assert {chunk.terms for chunk in rows.chunks} == {extract_terms(["a"], "Ada knew two rivers").tobytes(), b""}

    @pytest.mark.parametrize("changed", ["position", "terms", "title_names"])
    async def test_a_chunk_that_is_kept_and_looks_different_is_a_change(
        self, record: Record, other: Record, corpus: Corpus, changed: str
    ) -> None:
        await put(record, corpus, "a", [("one", ["Ada"]), ("two", ["Bob"])], facts=[("Ada", "met", "Bob")])
        generation, before = await other.graph.graph(corpus.id)
        exported = await export(record, corpus)
        await record.submissions.enqueue(corpus.id, [revision("a", "again")], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus)
        commit = commit_of(claim, [("one", ["Ada"]), ("two", ["Bob"])], [("Ada", "met", "Bob")])
        first, second = commit.chunks
        new = {
            "position": replace(first, chunk=replace(first.chunk, position=7)),
            "terms": replace(first, terms=extract_terms([], "other terms").tobytes()),
            "title_names": replace(first, title_names=(ids.entity_id("bob"),)),
        }[changed]
        outcome = await record.commits.commit([replace(commit, chunks=(new, second))], grace=0)
        assert outcome.tombstone is not None
        assert outcome.tombstone.view_ids == outcome.tombstone.entity_ids == outcome.tombstone.triple_ids == ()
        changes = await other.graph.changes(corpus.id, generation)
        assert changes is not None
        assert (list(changes.removed), list(changes.added.chunks)) == ([first.chunk.id], [graph_chunk(new)])
        assert len(changes.added.mentions) == len(changes.added.facts) == 1, "its rows come along, as they were"
        _, after = await other.graph.graph(corpus.id)
        assert sorted(after.chunks) == sorted(map(graph_chunk, (new, second)))
        assert told(after)[1:] == told(before)[1:]
        again = await export(record, corpus)
        graphs = ("entity", "mention", "fact")
        assert [r for r in again if r["kind"] in graphs] == [r for r in exported if r["kind"] in graphs]

    async def test_an_unknown_generation_means_a_rebuild(self, record: Record, corpus: Corpus) -> None:
        assert await record.graph.changes(corpus.id, 10**6) is None

    async def test_the_graph_of_a_missing_corpus_is_not_found(self, record: Record) -> None:
        with pytest.raises(NotFound):
            await record.graph.generation("f" * 32)
