"""The contract of `Certificates`: every removal is written with what removes, and exchanged for a certificate."""

import asyncio
from dataclasses import replace

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict
from core.ports.record import MAX_DOCUMENTS, Certificate, Record, Removal, RemovalKind
from core.questions import NewQuestion
from testing.record import SETTINGS, RecordFixtures, claim_all, commit_of, delete, put, revision

__all__ = ["CertificatesContract"]


def _certificate(corpus: Corpus, number: int, line: str = "{}", chain: str = "") -> Certificate:
    return Certificate(chain=chain or corpus.id, number=number, corpus=corpus.name, line=line)


class CertificatesContract(RecordFixtures):
    async def test_a_new_document_removes_nothing(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        assert await record.certificates.list_removals(corpus.id) == []

    async def test_a_deletion_is_a_removal(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"]), ("two", ["Bob"])], facts=[("Ada", "knew", "Bob")])
        await put(record, corpus, "b", [("three", ["Bob"])])
        content = (await record.documents.get(corpus.id, ids.document_id("a"))).content_hash
        await delete(record, corpus, "a")
        [removal] = await record.certificates.list_removals()
        [document] = removal.documents
        assert (removal.corpus_id, removal.corpus, removal.kind) == (corpus.id, "books", RemovalKind.DOCUMENTS)
        assert removal.removed_at > 1e9
        assert (document.key, document.is_replaced, document.contents) == ("a", False, (content,))
        assert (document.passages, document.by) == (2, "")
        assert (await record.jobs.get(document.job)).corpus_id == corpus.id
        assert removal.listed.content_hashes == (content,)
        assert removal.listed.entity_ids == (ids.entity_id("ada"),)
        assert len(removal.listed.view_ids) == 2
        assert len(removal.listed.triple_ids) == 1

    async def test_other_content_is_a_removal_and_other_metadata_are_not(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"]), ("two", ["Bob"])])
        content = (await record.documents.get(corpus.id, ids.document_id("a"))).content_hash
        await put(record, corpus, "a", [("one", ["Ada"]), ("two", ["Bob"])], year=1843)
        assert await record.certificates.list_removals(corpus.id) == []
        await put(record, corpus, "a", [("one", ["Ada"]), ("three", ["Bob"])])
        [removal] = await record.certificates.list_removals(corpus.id)
        [document] = removal.documents
        assert (document.key, document.is_replaced, document.contents, document.passages) == ("a", True, (content,), 1)

    async def test_a_content_that_was_never_indexed_is_in_the_removal(self, record: Record, corpus: Corpus) -> None:
        first, second = revision("a", "first"), revision("a", "second")
        await record.submissions.enqueue(corpus.id, [first], OnConflict.REPLACE)
        await record.submissions.enqueue(corpus.id, [second], OnConflict.REPLACE)
        claims = await claim_all(record, corpus)
        await record.commits.commit([commit_of(claim, [("second", [])]) for claim in claims], grace=0)
        [removal] = await record.certificates.list_removals(corpus.id)
        assert [document.contents for document in removal.documents] == [(first.content_hash,)]

    async def test_a_fenced_deletion_removes_nothing(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        await record.submissions.delete_documents(corpus.id, [ids.document_id("a")])
        [claim] = await claim_all(record, corpus)
        await record.commits.commit([commit_of(replace(claim, epoch=claim.epoch - 1), [])], grace=0)
        assert await record.certificates.list_removals(corpus.id) == []

    async def test_the_key_that_deletes_is_named(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        await record.for_key("key-1").submissions.delete_documents(corpus.id, [ids.document_id("a")])
        claims = await claim_all(record, corpus)
        await record.commits.commit([commit_of(claim, []) for claim in claims], grace=0)
        [removal] = await record.certificates.list_removals(corpus.id)
        assert [document.by for document in removal.documents] == ["key-1"]

    async def test_withdrawn_answers_are_a_removal(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        await put(record, corpus, "b", [("two", ["Bob"])])
        question = NewQuestion(id=ids.new_id(), corpus_id=corpus.id, asked_by="", text="who?", request={})
        await record.questions.create(question, lease_seconds=60, max_running=9)
        a = await record.documents.get(corpus.id, ids.document_id("a"))
        await record.questions.append(question.id, [], [a.id], lease_seconds=60)
        await record.submissions.delete_documents(corpus.id, [ids.document_id("a"), ids.document_id("b")])
        [removal] = await record.certificates.list_removals(corpus.id)
        assert (removal.kind, removal.answers) == (RemovalKind.ANSWERS, 1)
        assert [document.key for document in removal.documents] == ["a"]

    async def test_a_deleted_corpus_is_a_removal_once_its_rows_are_gone(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        await put(record, corpus, "b", [("two", ["Bob"])])
        job = await record.corpora.delete("books")
        assert await record.certificates.list_removals() == []
        await record.maintenance.delete_corpus_rows(corpus.id)
        assert corpus.id in await record.maintenance.list_corpora_with_work()
        [removal] = await record.certificates.list_removals()
        assert (removal.kind, removal.corpus, removal.corpus_id) == (RemovalKind.CORPUS, "books", corpus.id)
        assert [(one.key, one.passages, one.job) for one in removal.documents] == [("a", 1, job.id), ("b", 1, job.id)]
        assert all(len(document.contents) == 1 for document in removal.documents)
        assert await record.certificates.append(corpus.id, _certificate(corpus, 1), removal)
        assert corpus.id not in await record.maintenance.list_corpora_with_work()
        assert len(await record.certificates.list("books")) == len(await record.certificates.list(corpus.id)) == 1

    async def test_a_large_corpus_has_several_removals(self, record: Record, corpus: Corpus) -> None:
        keys = [f"{number:05}" for number in range(MAX_DOCUMENTS + 1)]
        await record.submissions.enqueue(corpus.id, [revision(key) for key in keys], OnConflict.REPLACE)
        await record.corpora.delete("books")
        await record.maintenance.delete_corpus_rows(corpus.id)
        removals = await record.certificates.list_removals(corpus.id)
        assert [one.key for removal in removals for one in removal.documents] == keys
        assert [len(removal.documents) for removal in removals] == [MAX_DOCUMENTS, 1]

    async def test_an_empty_corpus_is_a_removal(self, record: Record, corpus: Corpus) -> None:
        await record.corpora.delete("books")
        await record.maintenance.delete_corpus_rows(corpus.id)
        [removal] = await record.certificates.list_removals(corpus.id)
        assert removal.documents == ()

    async def test_append_exchanges_a_removal_for_a_certificate(
        self, record: Record, other: Record, corpus: Corpus
    ) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        await delete(record, corpus, "a")
        [removal] = await record.certificates.list_removals(corpus.id)
        assert await record.certificates.get_last(corpus.id) is None
        certificate = _certificate(corpus, 1, "line")
        assert await record.certificates.append(corpus.id, certificate, removal)
        assert await other.certificates.list_removals() == []
        assert await other.certificates.get_last(corpus.id) == certificate
        assert await other.certificates.append(corpus.id, _certificate(corpus, 2), removal)  # it is certified
        assert list(await other.certificates.list("books")) == [certificate]

    async def test_a_number_is_given_once(self, record: Record, other: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        await delete(record, corpus, "a")
        [removal] = await record.certificates.list_removals(corpus.id)
        assert await record.certificates.append(corpus.id, _certificate(corpus, 1, "first"))
        assert not await other.certificates.append(corpus.id, _certificate(corpus, 1, "second"), removal)
        assert await other.certificates.list_removals(corpus.id) == [removal]
        appended = await asyncio.gather(
            *(one.certificates.append(corpus.id, _certificate(corpus, 2, "x"), removal) for one in (record, other))
        )
        assert any(appended)  # the other one finds the number taken, or the removal gone
        assert [one.line for one in await record.certificates.list("books")] == ["first", "x"]

    async def test_certificates_are_listed_in_pages(self, record: Record, corpus: Corpus) -> None:
        await record.corpora.create("others", SETTINGS)
        for number in range(1, 13):
            await record.certificates.append(corpus.id, _certificate(corpus, number))
        assert [one.number for one in await record.certificates.list("books")] == list(range(1, 13))
        page = await record.certificates.list("books", limit=5, after=(corpus.id, 3))
        assert [one.number for one in page] == [4, 5, 6, 7, 8]
        assert list(await record.certificates.list("others")) == []
        assert list(await record.certificates.list("nobody")) == []

    async def test_a_chain_follows_the_name(self, record: Record, corpus: Corpus) -> None:
        await record.certificates.append(corpus.id, _certificate(corpus, 1))
        await record.corpora.rename("books", "shelf")
        assert len(await record.certificates.list("shelf")) == len(await record.certificates.list(corpus.id)) == 1
        assert list(await record.certificates.list("books")) == []  # whose keys do not see the shelf
        books = await record.corpora.create("books", SETTINGS)
        await record.certificates.append(books.id, _certificate(books, 1))
        assert [one.chain for one in await record.certificates.list("books")] == [books.id]
        assert [one.chain for one in await record.certificates.list("shelf")] == [corpus.id]

    async def test_a_reindexed_corpus_keeps_its_chain(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        await delete(record, corpus, "a")
        [removal] = await record.certificates.list_removals(corpus.id)
        await record.certificates.append(corpus.id, _certificate(corpus, 1))
        reindex = await record.reindexing.start(corpus.id, SETTINGS)
        assert await record.reindexing.swap(corpus.id) is not None
        last = await record.certificates.get_last(reindex.shadow_id)
        assert last is not None
        assert (last.chain, last.number) == (corpus.id, 1)
        [moved] = await record.certificates.list_removals(reindex.shadow_id)
        assert _without_ids(moved) == _without_ids(removal)
        await record.maintenance.delete_corpus_rows(corpus.id)
        assert len(await record.certificates.list_removals()) == 1  # none of the corpus in whose place it is
        assert await record.certificates.append(reindex.shadow_id, _certificate(corpus, 2, chain=corpus.id), moved)
        assert [one.number for one in await record.certificates.list("books")] == [1, 2]

    async def test_a_shadow_corpus_has_no_removals(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        reindex = await record.reindexing.start(corpus.id, SETTINGS)
        shadow = await record.corpora.get_by_id(reindex.shadow_id)
        await put(record, shadow, "a", [("one", ["Ada"])])
        await delete(record, shadow, "a")
        await record.reindexing.cancel(corpus.id)
        await record.maintenance.delete_corpus_rows(shadow.id)
        assert await record.certificates.list_removals() == []


def _without_ids(removal: Removal) -> Removal:
    return replace(removal, id=0, corpus_id="", listed=replace(removal.listed, corpus_id=""))
