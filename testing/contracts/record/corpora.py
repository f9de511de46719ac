"""The contract of the record about creating, naming, renaming and dropping corpora, keeping them apart, and reindexing.

A corpus may be built beside another and take its place.
"""

from dataclasses import replace

import pytest

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict, RevisionState
from core.errors import Conflict, InvalidInput, NotFound
from core.jobs import JobKind, JobState
from core.ports.record import Record, Reindex
from testing.record import SETTINGS, RecordFixtures, claim_all, commit_of, delete, export, put, revision

__all__ = ["CorporaContract", "ReindexingContract"]


class CorporaContract(RecordFixtures):
    async def test_a_corpus_is_found_by_name_and_by_id(self, record: Record, corpus: Corpus) -> None:
        assert await record.corpora.get("books") == corpus
        assert await record.corpora.get_by_id(corpus.id) == corpus
        assert corpus.settings == SETTINGS
        assert corpus.generation == 0

    async def test_a_name_is_taken_once(self, record: Record, corpus: Corpus) -> None:
        with pytest.raises(Conflict, match="books"):
            await record.corpora.create("books", SETTINGS)

    @pytest.mark.parametrize("name", ["", "Books", "../etc", "a b", "-a", "a" * 64, "bücher"])
    async def test_a_bad_name_is_refused(self, record: Record, name: str) -> None:
        with pytest.raises(InvalidInput, match="not valid"):
            await record.corpora.create(name, SETTINGS)

    async def test_a_missing_corpus_is_named_with_those_there_are(self, record: Record, corpus: Corpus) -> None:
        with pytest.raises(NotFound, match=r"'nope'.*books"):
            await record.corpora.get("nope")

    async def test_rename_keeps_the_content(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        renamed = await record.corpora.rename("books", "library")
        assert renamed.id == corpus.id
        assert (await record.corpora.count(renamed.id)).chunks == 1
        with pytest.raises(NotFound):
            await record.corpora.get("books")

    async def test_corpora_do_not_see_each_other(self, record: Record, corpus: Corpus) -> None:
        twin = await record.corpora.create("twin", SETTINGS)
        for target in (corpus, twin):
            await put(record, target, "a", [("one", ["Ada"])])
        assert await export(record, corpus) == await export(record, twin), "equal documents have equal ids"
        await delete(record, twin, "a")
        assert (await record.corpora.count(corpus.id)).entities == 1
        assert (await record.corpora.count(twin.id)).entities == 0


OTHER = replace(SETTINGS, chunker="sentences")


async def hand_in_what_lacks(record: Record, built: Reindex) -> list[str]:
    """As the application does; returns the keys."""
    behind = await record.reindexing.compare(built.corpus_id)
    if behind.revisions:
        await record.submissions.enqueue(built.shadow_id, behind.revisions, OnConflict.REPLACE, job_id=built.job_id)
    if behind.document_ids:
        await record.submissions.delete_documents(built.shadow_id, behind.document_ids)
    return [one.key for one in behind.revisions]


async def build_all(record: Record, built: Reindex) -> None:
    await hand_in_what_lacks(record, built)
    claims = await claim_all(record, await record.corpora.get_by_id(built.shadow_id))
    await record.commits.commit([commit_of(claim, [(f"anew {claim.key}", ["Ada"])]) for claim in claims], grace=0)


class ReindexingContract(RecordFixtures):
    async def test_what_is_built_is_invisible_until_it_is_whole(
        self, record: Record, other: Record, corpus: Corpus
    ) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        before = await export(record, corpus)
        built = await record.reindexing.start(corpus.id, OTHER)
        await build_all(record, built)
        assert [one.id for one in await other.corpora.list()] == [corpus.id]
        assert await other.corpora.get("books") == await record.corpora.get_by_id(corpus.id)
        assert await export(other, corpus) == before
        assert await other.reindexing.list() == [built]
        job = await other.jobs.get(built.job_id)
        assert (job.kind, job.state, job.corpus_name, job.corpus_id) == (
            *(JobKind.REINDEX, JobState.RUNNING, "books"),
            built.shadow_id,
        )

    async def test_the_swap_moves_the_name_and_drops_the_old(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        built = await record.reindexing.start(corpus.id, OTHER)
        await build_all(record, built)
        dropping = await record.reindexing.swap(corpus.id)
        assert dropping is not None
        now = await record.corpora.get("books")
        assert (now.id, now.settings) == (built.shadow_id, OTHER)
        assert [chunk.text for chunk in await record.contents.get_chunks_of(now.id, ids.document_id("a"))] == ["anew a"]
        assert (await record.jobs.get(built.job_id)).state is JobState.DONE
        assert await record.maintenance.list_deleted_corpora() == [corpus.id]
        await record.maintenance.delete_corpus_rows(corpus.id)
        assert (await record.jobs.get(dropping.id)).state is JobState.DONE
        assert await record.reindexing.list() == []
        assert (await record.corpora.count(now.id)).documents == 1

    async def test_the_swap_keeps_what_is_disabled(self, record: Record, corpus: Corpus) -> None:
        a, b = ids.document_id("a"), ids.document_id("b")
        await put(record, corpus, "a", [("one", ["Ada"])])
        await put(record, corpus, "b", [("two", ["Ada"])])
        built = await record.reindexing.start(corpus.id, OTHER)
        await build_all(record, built)
        await record.submissions.set_enabled(corpus.id, [a], enabled=False)
        await record.reindexing.swap(corpus.id)
        now = await record.corpora.get("books")
        assert {d.id: d.enabled for d in (await record.documents.list(now.id, limit=9)).data} == {a: False, b: True}
        assert len((await record.graph.graph(now.id))[1].chunks) == 1

    async def test_nothing_is_swapped_before_it_is_whole(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        built = await record.reindexing.start(corpus.id, OTHER)
        assert await record.reindexing.swap(corpus.id) is None
        assert await hand_in_what_lacks(record, built) == ["a"]
        assert await record.reindexing.swap(corpus.id) is None, "queued is not indexed"
        await build_all(record, built)
        await record.submissions.enqueue(corpus.id, [revision("b")], OnConflict.REPLACE)
        assert await record.reindexing.swap(corpus.id) is None, "a document came meanwhile"
        assert await hand_in_what_lacks(record, built) == ["b"]
        await build_all(record, built)
        assert await record.reindexing.swap(corpus.id) is not None

    async def test_what_changes_or_goes_meanwhile_is_followed(self, record: Record, corpus: Corpus) -> None:
        for key in ("a", "b"):
            await put(record, corpus, key, [(key, ["Ada"])])
        built = await record.reindexing.start(corpus.id, OTHER)
        await build_all(record, built)
        await delete(record, corpus, "a")
        await put(record, corpus, "b", [("changed", ["Ada"])])
        assert await record.reindexing.swap(corpus.id) is None
        assert await hand_in_what_lacks(record, built) == ["b"]
        beside = await record.corpora.get_by_id(built.shadow_id)
        claims = await claim_all(record, beside)
        assert {claim.key: claim.deletion for claim in claims} == {"a": True, "b": False}
        commits = [commit_of(c, [] if c.deletion else [("changed anew", [])]) for c in claims]
        await record.commits.commit(commits, grace=0)
        assert not await record.reindexing.compare(corpus.id)
        assert await record.reindexing.swap(corpus.id) is not None
        assert (await record.corpora.count(built.shadow_id)).documents == 1

    async def test_a_document_that_fails_anew_keeps_the_old_corpus(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        built = await record.reindexing.start(corpus.id, OTHER)
        await hand_in_what_lacks(record, built)
        [claim] = await claim_all(record, await record.corpora.get_by_id(built.shadow_id))
        await record.claims.fail(claim, "the model refused it")
        assert await record.reindexing.swap(corpus.id) is None
        await record.submissions.retry(built.shadow_id, claim.document_id)
        await build_all(record, built)
        assert await record.reindexing.swap(corpus.id) is not None

    async def test_a_document_that_failed_before_may_fail_again(self, record: Record, corpus: Corpus) -> None:
        await record.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)
        [claim] = await claim_all(record, corpus)
        await record.claims.fail(claim, "no text in it")
        built = await record.reindexing.start(corpus.id, OTHER)
        assert await hand_in_what_lacks(record, built) == ["a"]
        [claim] = await claim_all(record, await record.corpora.get_by_id(built.shadow_id))
        await record.claims.fail(claim, "no text in it")
        assert await record.reindexing.swap(corpus.id) is not None
        document = await record.documents.get(built.shadow_id, claim.document_id)
        assert document.state is RevisionState.FAILED

    async def test_one_is_built_at_a_time_and_may_be_discarded(self, record: Record, corpus: Corpus) -> None:
        built = await record.reindexing.start(corpus.id, OTHER)
        with pytest.raises(Conflict, match=r"'books' is being reindexed already"):
            await record.reindexing.start(corpus.id, OTHER)
        assert await record.reindexing.cancel(corpus.id) is not None
        assert await record.reindexing.cancel(corpus.id) is None
        assert (await record.jobs.get(built.job_id)).state is JobState.CANCELLED
        assert await record.maintenance.list_deleted_corpora() == [built.shadow_id]
        again = await record.reindexing.start(corpus.id, OTHER)
        assert await record.reindexing.swap(corpus.id) is not None, "nothing of nothing is whole"
        assert (await record.corpora.get("books")).id == again.shadow_id

    async def test_dropping_a_corpus_drops_what_is_built_beside_it(self, record: Record, corpus: Corpus) -> None:
        built = await record.reindexing.start(corpus.id, OTHER)
        await record.corpora.delete("books")
        assert set(await record.maintenance.list_deleted_corpora()) == {corpus.id, built.shadow_id}
        assert await record.reindexing.list() == []
        with pytest.raises(NotFound):
            await record.corpora.get("books")

    async def test_what_is_built_is_no_rubbish_and_waits_for_a_worker(self, record: Record, corpus: Corpus) -> None:
        built = await record.reindexing.start(corpus.id, OTHER)
        assert await record.maintenance.list_deleted_corpora() == []
        assert built.shadow_id in await record.maintenance.list_corpora_with_work()
        await record.maintenance.delete_corpus_rows(built.shadow_id)
        assert (await record.corpora.get_by_id(built.shadow_id)).settings == OTHER

    async def test_the_swap_is_of_the_one_that_has_the_name(self, record: Record, corpus: Corpus) -> None:
        built = await record.reindexing.start(corpus.id, OTHER)
        await record.corpora.rename("books", "novels")
        assert await record.reindexing.swap(built.shadow_id) is None
        assert await record.reindexing.swap(corpus.id) is not None
        assert (await record.corpora.get("novels")).id == built.shadow_id
