"""The contract of the record about tombstones: when they are due, what they list, and what `unnamed` leaves of them."""

from dataclasses import replace

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict
from core.ports.record import Commit, Record, Tombstone
from testing.record import SETTINGS, RecordFixtures, claim_all, commit_of, delete, put, revision

__all__ = ["TombstonesContract"]


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
