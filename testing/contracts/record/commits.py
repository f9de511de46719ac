"""The contract of the record about commits: what they write, replace, keep and delete.

- Synonyms of entities, and entities whose synonyms are still to be linked.
- Tombstones: when they are due, what they list, and what `unnamed` leaves of them.
"""

from dataclasses import replace

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict, RevisionState, Span
from core.filters import parse_filter
from core.graph import Synonym
from core.ports.record import Commit, Record, Tombstone
from testing.graph_rows import told
from testing.record import SETTINGS, RecordFixtures, claim_all, commit_of, delete, export, put, revision

__all__ = ["CommitsContract", "SynonymsContract", "TombstonesContract"]


class CommitsContract(RecordFixtures):
    async def test_adding_makes_readable(self, record: Record, other: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"]), ("two", ["Ada", "Bob"])], year=1843)
        document = (await other.documents.list(corpus.id, limit=10)).data[0]
        assert (document.key, document.state, document.readable, document.chunks) == (
            "a",
            RevisionState.INDEXED,
            True,
            2,
        )
        assert document.metadata == {"year": 1843}
        chunks = await other.contents.get_chunks_of(corpus.id, document.id)
        assert [c.text for c in chunks] == ["one", "two"]
        assert chunks[0].span == Span(start=0, end=3)
        by_view = await other.contents.get_chunks_by_view(corpus.id, [c.view_id for c in chunks] + ["0" * 32])
        assert set(by_view) == {c.view_id for c in chunks}
        counts = await other.corpora.count(corpus.id)
        assert (counts.documents, counts.chunks, counts.entities, counts.mentions) == (1, 2, 2, 3)

    async def test_found_metadata_join_those_of_the_sender(self, record: Record, other: Record, corpus: Corpus) -> None:
        await record.submissions.enqueue(corpus.id, [revision("a", year=1843)], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus)
        found = {"author": "Ada", "year": 1999}
        commit = replace(commit_of(claim, [("one", [])]), found_metadata=found)
        await record.commits.commit([commit], grace=0)
        document = (await other.documents.list(corpus.id, limit=10)).data[0]
        assert document.metadata == {"author": "Ada", "year": 1843}
        query = parse_filter({"author": "Ada", "year": 1843})
        assert await other.documents.match(corpus.id, query) == frozenset({document.id})
        [row] = [r async for r in other.exporter.rows(corpus.id, canonical=False) if r["kind"] == "document"]
        assert (row["metadata"], row["given_metadata"]) == (document.metadata, {"year": 1843})
        again = await record.submissions.enqueue(corpus.id, [revision("a", year=1843)], OnConflict.REPLACE)
        assert again.job.counts == {"unchanged": 1}

    async def test_a_commit_again_changes_nothing(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        before = await export(record, corpus)
        await record.submissions.enqueue(corpus.id, [revision("a", "other bytes, same passages")], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus)
        outcome = await record.commits.commit([commit_of(claim, [("one", ["Ada"])])], grace=0)
        assert outcome.tombstone is not None
        assert outcome.tombstone.view_ids == ()
        after = await export(record, corpus)
        assert [r for r in after if r["kind"] != "document"] == [r for r in before if r["kind"] != "document"]

    async def test_the_same_text_twice_in_a_document_is_two_chunks(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", []), ("one", [])])
        assert (await record.corpora.count(corpus.id)).chunks == 2

    async def test_the_same_text_in_two_documents_is_two_chunks(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        await put(record, corpus, "b", [("one", ["Ada"])])
        await delete(record, corpus, "a")
        assert (await record.corpora.count(corpus.id)).chunks == 1
        assert (await record.corpora.count(corpus.id)).entities == 1

    async def test_replacing_keeps_unchanged_chunks_and_drops_the_rest(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"]), ("two", ["Bob"])], facts=[("Ada", "knows", "Ada")])
        old = {c.text: c for c in await record.contents.get_chunks_of(corpus.id, ids.document_id("a"))}
        await record.submissions.enqueue(corpus.id, [revision("a", "new")], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus)
        readable = await record.contents.get_chunks_of(corpus.id, ids.document_id("a"))
        assert [c.text for c in readable] == ["one", "two"], (
            "the current revision stays readable while the next is made"
        )
        outcome = await record.commits.commit([commit_of(claim, [("three", ["Cyd"]), ("one", ["Ada"])])], grace=0)
        new = {c.text: c for c in await record.contents.get_chunks_of(corpus.id, ids.document_id("a"))}
        assert new["one"].id == old["one"].id
        assert new["one"].position == 1
        assert set(new) == {"three", "one"}
        assert outcome.tombstone is not None
        assert outcome.tombstone.view_ids == (old["two"].view_id,)
        assert outcome.tombstone.entity_ids == (ids.entity_id("bob"),)
        assert len(outcome.tombstone.content_hashes) == 1
        assert (await record.corpora.count(corpus.id)).entities == 2

    async def test_one_fenced_claim_does_not_hold_up_the_others(self, record: Record, corpus: Corpus) -> None:
        await record.submissions.enqueue(corpus.id, [revision("a"), revision("b")], OnConflict.REPLACE)
        [a, b] = await claim_all(record, corpus)
        await record.submissions.enqueue(corpus.id, [revision("a", "newer")], OnConflict.REPLACE)
        outcome = await record.commits.commit([commit_of(a, [("a", [])]), commit_of(b, [("b", [])])], grace=0)
        assert outcome.fenced == (a,)
        assert (await record.corpora.count(corpus.id)).documents == 1

    async def test_ten_thousand_documents(self, record: Record, corpus: Corpus) -> None:
        keys = [f"d{i:05}" for i in range(10_000)]
        await record.submissions.enqueue(corpus.id, [revision(k) for k in keys], OnConflict.REPLACE)
        claims = await claim_all(record, corpus)
        assert len(claims) == len(keys)
        await record.commits.commit([commit_of(c, [(c.key, ["Ada", c.key])]) for c in claims], grace=0)
        counts = await record.corpora.count(corpus.id)
        assert (counts.documents, counts.chunks, counts.entities) == (10_000, 10_000, 10_001)
        await record.submissions.delete_documents(corpus.id, [ids.document_id(k) for k in keys])
        await record.commits.commit([Commit(claim=c) for c in await claim_all(record, corpus)], grace=0)
        assert await export(record, corpus) == []


class SynonymsContract(RecordFixtures):
    async def test_synonyms_join_entities_that_exist(self, record: Record, corpus: Corpus) -> None:
        ada, bob = sorted(ids.entity_id(n) for n in ("ada", "bob"))
        await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus)
        pair = Synonym(first_id=ada, second_id=bob, score=0.875)
        ghost = Synonym(first_id=ada, second_id="f" * 32, score=0.9)
        await record.commits.commit([commit_of(claim, [("one", ["Ada", "Bob"])])], [pair, ghost], grace=0)
        generation, rows = await record.graph.graph(corpus.id)
        assert told(rows).synonyms == [(ada, bob, 0.875)]
        await delete(record, corpus, "a")
        assert told((await record.graph.graph(corpus.id))[1]).synonyms == []
        assert generation < (await record.graph.graph(corpus.id))[0]

    async def test_entities_that_came_while_another_committed_are_unsettled(
        self, record: Record, other: Record, corpus: Corpus
    ) -> None:
        await put(record, corpus, "old", [("zero", ["Old"])])
        seen = await record.graph.generation(corpus.id)
        await record.submissions.enqueue(corpus.id, [revision("a"), revision("b")], OnConflict.REPLACE)
        first, second = await claim_all(record, corpus)
        outcome = await record.commits.commit([commit_of(first, [("one", ["Ada", "Old"])])], grace=3600, seen=seen)
        assert outcome.pending_synonyms == (), "nobody came between"
        later = [commit_of(second, [("two", ["Ada Byron", "Bob", "Old"])])]
        outcome = await other.commits.commit(later, grace=0, seen=seen)
        names = tuple(sorted(ids.entity_id(name) for name in ("ada byron", "bob")))
        assert outcome.pending_synonyms == names, "old ones are not looked for again"
        assert await record.commits.list_pending_synonyms(corpus.id) == list(names)
        assert corpus.id in await record.maintenance.list_corpora_with_work()
        first_id, second_id = sorted((ids.entity_id("ada"), ids.entity_id("ada byron")))
        pair = Synonym(first_id=first_id, second_id=second_id, score=0.875)
        ghost = Synonym(first_id=first_id, second_id="f" * 32, score=0.9)
        before, _ = await other.graph.graph(corpus.id)
        await record.commits.link_synonyms(corpus.id, outcome.pending_synonyms, [pair, ghost])
        assert await record.commits.list_pending_synonyms(corpus.id) == []
        changes = await other.graph.changes(corpus.id, before)
        assert changes is not None
        assert changes.generation > before
        assert told(changes.added).synonyms == [(first_id, second_id, 0.875)]
        assert told((await record.graph.graph(corpus.id))[1]).synonyms == [(first_id, second_id, 0.875)]

    async def test_what_is_unsettled_waits_for_its_worker_and_goes_with_its_entity(
        self, record: Record, corpus: Corpus
    ) -> None:
        await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)
        commit = commit_of((await claim_all(record, corpus))[0], [("one", ["Ada"])])
        outcome = await record.commits.commit([commit], grace=3600, seen=-1)
        assert outcome.pending_synonyms == (ids.entity_id("ada"),)
        assert await record.commits.list_pending_synonyms(corpus.id) == [], "its worker is at it"
        await record.submissions.enqueue(corpus.id, [revision("b")], OnConflict.REPLACE)
        commit = commit_of((await claim_all(record, corpus))[0], [("two", ["Bob"])])
        await record.commits.commit([commit], grace=0, seen=-1)
        assert await record.commits.list_pending_synonyms(corpus.id) == [ids.entity_id("bob")]
        await delete(record, corpus, "b")
        assert await record.commits.list_pending_synonyms(corpus.id) == []
        await record.tombstones.delete(await record.tombstones.list_due(corpus.id))
        assert corpus.id not in await record.maintenance.list_corpora_with_work()


class TombstonesContract(RecordFixtures):
    async def test_a_tombstone_comes_back_until_it_is_cleared(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])], facts=[("Ada", "is", "Ada")])
        [chunk] = await record.contents.get_chunks_of(corpus.id, ids.document_id("a"))
        await record.submissions.delete_documents(corpus.id, [chunk.document_id])
        outcome = await record.commits.commit([Commit(claim=c) for c in await claim_all(record, corpus)], grace=0)
        [tombstone] = await record.tombstones.list_due(corpus.id)
        assert tombstone == outcome.tombstone
        assert tombstone.view_ids == (chunk.view_id,)
        assert tombstone.entity_ids == (ids.entity_id("ada"),)
        assert len(tombstone.triple_ids) == 1
        assert len(tombstone.content_hashes) == 1
        await record.tombstones.delete([tombstone])
        assert await record.tombstones.list_due(corpus.id) == []

    async def test_a_tombstone_spares_what_came_back(self, record: Record, corpus: Corpus) -> None:
        passages = [("one", ["Ada"])]
        await put(record, corpus, "a", passages)
        await delete(record, corpus, "a")
        await record.submissions.enqueue(corpus.id, [revision("a", repr((passages, ())))], OnConflict.REPLACE)
        assert await record.tombstones.list_due(corpus.id) == [], "not while its document is in work"
        [claim] = await claim_all(record, corpus)
        await record.commits.commit([commit_of(claim, passages)], grace=0)
        [tombstone] = await record.tombstones.list_due(corpus.id)
        assert tombstone.view_ids
        assert tombstone.entity_ids
        left = await record.tombstones.select_orphans(tombstone)
        assert left == Tombstone(id=tombstone.id, corpus_id=corpus.id)

    async def test_unnamed_is_what_this_corpus_does_not_name(
        self, record: Record, other: Record, corpus: Corpus
    ) -> None:
        await put(record, corpus, "a", [("one", ["Ada", "Bob"])], facts=[("Ada", "met", "Bob")])
        [chunk] = await record.contents.get_chunks_of(corpus.id, ids.document_id("a"))
        ada, bob = ids.entity_id("ada"), ids.entity_id("bob")
        met = ids.triple_id(ada, "met", bob)
        content = revision("a", repr(([("one", ["Ada", "Bob"])], [("Ada", "met", "Bob")]))).content_hash
        listed = Tombstone(
            id=7,
            corpus_id=corpus.id,
            view_ids=("e" * 32, chunk.view_id),
            entity_ids=(ada, "d" * 32),
            triple_ids=(met, "c" * 32),
            content_hashes=("b" * 64, content),
        )
        assert await other.tombstones.select_orphans(listed) == Tombstone(
            id=7,
            corpus_id=corpus.id,
            view_ids=("e" * 32,),
            entity_ids=("d" * 32,),
            triple_ids=("c" * 32,),
            content_hashes=("b" * 64,),
        )
        elsewhere = await record.corpora.create("elsewhere", SETTINGS)
        nothing = replace(listed, corpus_id=elsewhere.id)
        assert await other.tombstones.select_orphans(nothing) == nothing

    async def test_a_tombstone_is_not_due_before_its_time(self, record: Record, corpus: Corpus) -> None:
        await record.tombstones.write(Tombstone(id=0, corpus_id=corpus.id, view_ids=("e" * 32,)), [], grace=3600)
        assert await record.tombstones.list_due(corpus.id) == []
        late = Tombstone(
            id=0, corpus_id=corpus.id, view_ids=("d" * 32,), entity_ids=("c" * 32,), triple_ids=("b" * 32,)
        )
        await record.tombstones.write(late, [], grace=0)
        [tombstone] = await record.tombstones.list_due(corpus.id)
        assert replace(tombstone, id=0) == late
