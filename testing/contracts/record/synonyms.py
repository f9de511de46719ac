"""The contract of the record about synonyms of entities, and entities whose synonyms are still to be linked."""

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict
from core.graph import Synonym
from core.ports.record import Record
from testing.graph_rows import told
from testing.record import RecordFixtures, claim_all, commit_of, delete, put, revision

__all__ = ["SynonymsContract"]


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
