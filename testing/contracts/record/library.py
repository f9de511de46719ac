"""The contract of the record about what readers see: documents, chunks, entities, triples, filters and pages."""

from typing import Any

import pytest

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict, RevisionState
from core.errors import NotFound
from core.filters import parse_filter
from core.jobs import JobState
from core.ports.record import Commit, Record, TripleRow
from core.text.names import normalise
from testing.filters import draw, filters, is_match, metadata
from testing.graph_rows import told
from testing.record import LEASE, RecordFixtures, claim_all, delete, export, put, revision

__all__ = ["LibraryContract"]


class LibraryContract(RecordFixtures):
    async def test_a_deleted_document_is_invisible_at_once(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])], facts=[("Ada", "is", "Ada")])
        [chunk] = await record.contents.get_chunks_of(corpus.id, ids.document_id("a"))
        generation, _ = await record.graph.graph(corpus.id)
        job = await record.submissions.delete_documents(corpus.id, [chunk.document_id])
        assert job.state is JobState.QUEUED
        assert await record.submissions.find_deletion(corpus.id, chunk.document_id) == job
        assert await record.submissions.find_deletion(corpus.id, "0" * 32) is None
        assert (await record.documents.list(corpus.id, limit=9)).data == ()
        assert await record.contents.get_chunks(corpus.id, [chunk.id]) == {}
        assert await record.contents.get_chunks_by_view(corpus.id, [chunk.view_id]) == {}
        assert await record.documents.get_refs(corpus.id, [chunk.document_id]) == {}
        assert await record.contents.get_facts_of(corpus.id, [chunk.id]) == []
        ada = ids.entity_id("ada")
        assert await record.contents.get_triples(corpus.id, [ids.triple_id(ada, "is", ada)]) == {}
        assert await record.documents.match(corpus.id, parse_filter({})) == frozenset()
        with pytest.raises(NotFound):
            await record.documents.get(corpus.id, chunk.document_id)
        changes = await record.graph.changes(corpus.id, generation)
        assert changes is not None
        assert list(changes.removed) == [chunk.id]
        assert told(changes.added) == ([], [], [], [], [])
        assert (await record.corpora.count(corpus.id)).chunks == 0

    async def test_filters_follow_what_others_change(self, record: Record, other: Record, corpus: Corpus) -> None:
        where = parse_filter({"year": {"$gte": 2000}})

        async def check(visible: str, disabled: str = "") -> None:
            for one in (record, other, record):
                for enabled, keys in ((True, visible), (False, disabled), (None, visible + disabled)):
                    found = await one.documents.match(corpus.id, where, enabled=enabled)
                    assert found == {ids.document_id(key) for key in keys}

        await check("")
        await put(record, corpus, "a", [("one", [])], year=2001)
        await put(other, corpus, "b", [("two", [])], year=1990)
        await check("a")
        await put(other, corpus, "b", [("two", [])], year=2010)  # the same text
        await put(record, corpus, "c", [("three", [])])
        await check("ab")
        await other.submissions.set_enabled(corpus.id, [ids.document_id("a")], enabled=False)
        await check("b", "a")
        await record.submissions.set_enabled(corpus.id, [ids.document_id("a")], enabled=True)
        await check("ab")
        await other.submissions.delete_documents(corpus.id, [ids.document_id("a")])
        await check("b")
        claims = await claim_all(other, corpus)
        await other.commits.commit([Commit(claim=claim) for claim in claims], grace=0)
        await delete(record, corpus, "b")
        await check("")
        await put(other, corpus, "b", [("two", [])], year=1980)
        await put(other, corpus, "a", [("one", [])], year=2020)
        await check("a")
        await record.maintenance.prune()
        await check("a")

    async def test_a_filter_without_changes_has_the_same_set(self, record: Record, corpus: Corpus) -> None:
        """So that what is computed from it can be kept."""
        await put(record, corpus, "a", [("one", [])], year=2001)
        where = {"year": 2001}
        before = await record.documents.match(corpus.id, parse_filter(where))
        assert await record.documents.match(corpus.id, parse_filter(where)) is before
        await put(record, corpus, "b", [("two", [])], year=2002)
        assert await record.documents.match(corpus.id, parse_filter(where)) is before
        await put(record, corpus, "c", [("three", [])], year=2001)
        assert await record.documents.match(corpus.id, parse_filter(where)) != before

    async def test_the_chunks_of_a_document_have_pages(self, record: Record, corpus: Corpus) -> None:
        texts = ["one", "two", "three", "four"]
        await put(record, corpus, "a", [(text, []) for text in texts])
        id = ids.document_id("a")
        assert [one.text for one in await record.contents.get_chunks_of(corpus.id, id)] == texts
        assert [one.text for one in await record.contents.get_chunks_of(corpus.id, id, limit=2)] == texts[:2]
        assert [one.text for one in await record.contents.get_chunks_of(corpus.id, id, after=0, limit=2)] == texts[1:3]
        assert [one.text for one in await record.contents.get_chunks_of(corpus.id, id, after=2)] == texts[3:]
        assert await record.contents.get_chunks_of(corpus.id, id, after=3, limit=2) == []

    async def test_surroundings_are_of_the_revision_that_readers_see(self, record: Record, corpus: Corpus) -> None:
        def chunk(text: str) -> str:
            return ids.chunk_id("a", text, 0)

        async def around(text: str, distance: int) -> list[str]:
            found = await record.contents.get_surroundings(corpus.id, [chunk(text)], distance)
            return [one.text for one in found.get(chunk(text), [])]

        await put(record, corpus, "a", [(text, []) for text in ("one", "two", "three", "four", "five")])
        await put(record, corpus, "b", [("two", [])])
        assert await around("one", 1) == ["one", "two"]
        assert await around("three", 1) == ["two", "three", "four"]
        assert await around("five", 3) == ["two", "three", "four", "five"]
        assert await around("four", 0) == ["four"]
        both = await record.contents.get_surroundings(corpus.id, [chunk("one"), chunk("four"), "f" * 32], 1)
        assert {id: [one.position for one in chunks] for id, chunks in both.items()} == {
            chunk("one"): [0, 1],
            chunk("four"): [2, 3, 4],
        }
        await put(record, corpus, "a", [(text, []) for text in ("one", "three", "other", "five")])
        assert await around("three", 1) == ["one", "three", "other"]
        assert await around("two", 1) == []
        await record.submissions.delete_documents(corpus.id, [ids.document_id("a")])
        assert await around("three", 1) == []

    async def test_triples_are_told_with_names_and_the_chunks_that_assert_them(
        self, record: Record, corpus: Corpus
    ) -> None:
        met = ("Ada", "met", "Bob")
        await put(record, corpus, "a", [("one", ["Ada", "Bob"])], facts=[met, ("Bob", "saw", "Ada")])
        await put(record, corpus, "b", [("two", ["ADA", "Ada", "Bob"])], facts=[met])
        ada, bob = ids.entity_id("ada"), ids.entity_id("bob")
        both = ids.triple_id(ada, "met", bob)
        rows = await record.contents.get_triples(corpus.id, [both, "f" * 32])
        chunks = tuple(sorted([ids.chunk_id("a", "one", 0), ids.chunk_id("b", "two", 0)]))
        expected = TripleRow(
            subject_id=ada, subject="Ada", predicate="met", object_id=bob, object="Bob", chunk_ids=chunks
        )
        assert rows == {both: expected}
        assert await record.contents.get_triples(corpus.id, []) == {}
        assert await record.contents.get_triples("f" * 32, [both]) == {}
        await record.submissions.delete_documents(corpus.id, [ids.document_id("a")])
        [left] = (await record.contents.get_triples(corpus.id, [both, ids.triple_id(bob, "saw", ada)])).values()
        assert left.chunk_ids == (ids.chunk_id("b", "two", 0),)

    async def test_the_display_name_is_the_most_frequent_surviving_form(self, record: Record, corpus: Corpus) -> None:
        ada = ids.entity_id("ada")
        await put(record, corpus, "a", [("one", ["ADA"]), ("two", ["ADA"])])
        await put(record, corpus, "b", [("three", ["Ada"])])
        assert (await record.contents.get_entities(corpus.id, [ada]))[ada].display == "ADA"
        await put(record, corpus, "a", [("one", ["ADA"])])
        assert (await record.contents.get_entities(corpus.id, [ada]))[ada].display == "ADA", "ties go by code point"
        await delete(record, corpus, "a")
        assert (await record.contents.get_entities(corpus.id, [ada]))[ada].display == "Ada"

    async def test_names_in_any_script_stay_apart(self, record: Record, corpus: Corpus) -> None:
        names = ["北京大学", "北京", "Москва", "Søren", "Soren", "C++", "C#", "C", "القاهرة", "Straße"]
        await put(record, corpus, "a", [("one", names)])
        found = await record.contents.get_entities(corpus.id, [ids.entity_id(normalise(n)) for n in names])
        assert {e.display for e in found.values()} == set(names)

    async def test_a_document_that_is_not_enabled_is_invisible_at_once(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada", "Bob"])], facts=[("Ada", "knew", "Bob")])
        await put(record, corpus, "b", [("two", ["Ada"])])
        a, everything = ids.document_id("a"), parse_filter({})
        [chunk] = await record.contents.get_chunks_of(corpus.id, a)
        triple = ids.triple_id(ids.entity_id("ada"), "knew", ids.entity_id("bob"))
        generation, before = await record.graph.graph(corpus.id)
        assert await record.submissions.set_enabled(corpus.id, [a, "0" * 32], enabled=False) == {a}
        assert await record.submissions.set_enabled(corpus.id, [a], enabled=False) == frozenset()
        assert await record.contents.get_chunks(corpus.id, [chunk.id]) == {}
        assert await record.contents.get_surroundings(corpus.id, [chunk.id], 1) == {}
        assert await record.contents.get_facts_of(corpus.id, [chunk.id]) == []
        assert await record.contents.get_triples(corpus.id, [triple]) == {}
        assert set(await record.contents.get_triples(corpus.id, [triple], enabled=None)) == {triple}
        assert await record.documents.match(corpus.id, everything) == {ids.document_id("b")}
        assert await record.documents.match(corpus.id, everything, enabled=False) == {a}
        assert len(await record.documents.match(corpus.id, everything, enabled=None)) == 2
        assert await record.documents.get_refs(corpus.id, [a]) == {}
        assert set(await record.documents.get_refs(corpus.id, [a], enabled=None)) == {a}
        changes = await record.graph.changes(corpus.id, generation)
        assert changes is not None
        assert (set(changes.removed), len(changes.added.chunks)) == ({chunk.id}, 0)
        assert len((await record.graph.graph(corpus.id))[1].chunks) == 1
        # It is still there for whoever looks after the documents.
        assert [d.enabled for d in (await record.documents.list(corpus.id, limit=9)).data] == [False, True]
        assert [d.key for d in (await record.documents.list(corpus.id, limit=9, enabled=False)).data] == ["a"]
        assert [d.key for d in (await record.documents.list(corpus.id, limit=9, enabled=True, key="a")).data] == []
        assert await record.contents.get_chunks_of(corpus.id, a) == [chunk]
        assert set(await record.contents.get_chunks_by_view(corpus.id, [chunk.view_id])) == {chunk.view_id}
        exported = [row for row in await export(record, corpus) if row["kind"] == "document"]
        assert {row["key"]: row.get("enabled", True) for row in exported} == {"a": False, "b": True}
        assert await record.submissions.set_enabled(corpus.id, [a], enabled=True) == {a}
        assert told((await record.graph.graph(corpus.id))[1]) == told(before)
        assert await record.contents.get_chunks(corpus.id, [chunk.id]) == {chunk.id: chunk}

    async def test_a_revision_stays_disabled_and_a_new_document_does_not(self, record: Record, corpus: Corpus) -> None:
        a = ids.document_id("a")
        await put(record, corpus, "a", [("one", ["Ada"])])
        await record.submissions.set_enabled(corpus.id, [a], enabled=False)
        await put(record, corpus, "a", [("another", ["Ada"])])
        assert not (await record.documents.get(corpus.id, a)).enabled
        assert len((await record.graph.graph(corpus.id))[1].chunks) == 0
        await record.submissions.delete_documents(corpus.id, [a])
        assert await record.submissions.set_enabled(corpus.id, [a], enabled=False) == frozenset()
        await put(record, corpus, "a", [("a third", ["Ada"])])
        assert (await record.documents.get(corpus.id, a)).enabled
        assert len((await record.graph.graph(corpus.id))[1].chunks) == 1

    async def test_dated_documents_are_those_whose_metadata_may_state_their_validity(
        self, record: Record, other: Record, corpus: Corpus
    ) -> None:
        async def keys() -> dict[str, Any]:
            found = await record.documents.list_dated(corpus.id)
            assert found == await other.documents.list_dated(corpus.id)
            assert found is await record.documents.list_dated(corpus.id)
            assert all(ref.id == id for id, ref in found.items())
            return {ref.key: ref.metadata for ref in found.values()}

        assert await keys() == {}
        await put(record, corpus, "plain", [("one", [])], year=1990, validity="valid_from")
        await put(record, corpus, "begins", [("two", [])], valid_from="2020-01-01")
        await put(record, corpus, "ends", [("three", [])], valid_to="2020-01-01")
        await put(record, corpus, "newer", [("four", [])], supersedes="begins")
        await record.submissions.enqueue(corpus.id, [revision("waiting", valid_from="2020-01-01")], OnConflict.REPLACE)
        assert set(await keys()) == {"begins", "ends", "newer"}
        await put(record, corpus, "waiting", [("five", [])])
        await put(record, corpus, "begins", [("two", [])], valid_from="2021-01-01")
        await put(record, corpus, "ends", [("three", [])])
        assert await keys() == {"begins": {"valid_from": "2021-01-01"}, "newer": {"supersedes": "begins"}}
        newer = ids.document_id("newer")
        await record.submissions.set_access(corpus.id, [newer], ("group:a",))
        assert (await record.documents.list_dated(corpus.id))[newer].access == ("group:a",)
        await record.submissions.set_enabled(corpus.id, [newer], enabled=False)
        assert set(await keys()) == {"begins"}
        await record.submissions.set_enabled(corpus.id, [newer], enabled=True)
        await delete(record, corpus, "begins")
        assert set(await keys()) == {"newer"}

    async def test_no_sender_puts_words_into_a_text(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", [])], valid_statements=[{"states": "valid_to", "value": "2020-01-01"}])
        assert (await record.documents.list(corpus.id, limit=1)).data[0].metadata == {}

    async def test_filters_resolve_to_document_ids(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", [])], year=1990, tags=["x", "y"])
        await put(record, corpus, "b", [("two", [])], year=2001)
        await put(record, corpus, "c", [("three", [])])
        await record.submissions.enqueue(corpus.id, [revision("waiting", year=1990)], OnConflict.REPLACE)

        async def keys(where: dict[str, Any]) -> set[str]:
            found = await record.documents.match(corpus.id, parse_filter(where))
            return {r.key for r in (await record.documents.get_refs(corpus.id, found)).values()}

        assert await keys({}) == {"a", "b", "c"}
        assert await keys({"year": {"$gte": 1990}}) == {"a", "b"}
        assert await keys({"year": {"$exists": False}}) == {"c"}
        assert await keys({"year": {"$ne": 1990}}) == {"b", "c"}
        assert await keys({"tags": {"$contains": "x"}}) == {"a"}
        assert await keys({"$or": [{"$key": "c"}, {"year": 2001}]}) == {"b", "c"}
        assert await keys({"$not": {"year": 1990}}) == {"b", "c"}

    async def test_filters_agree_with_a_plain_evaluation(self, record: Record, corpus: Corpus) -> None:
        fields = draw(metadata, 40)
        for number, one in enumerate(fields):
            await put(record, corpus, f"notes/{number}", [(f"text {number}", [])], **one)
        page = await record.documents.list(corpus.id, limit=200)
        documents = {d.id: {**d.metadata, "$id": d.id, "$key": d.key, "$title": d.title} for d in page.data}
        assert len(documents) == len(fields)
        for where in draw(filters, 100):
            found = await record.documents.match(corpus.id, parse_filter(where))
            assert found == {id for id, document in documents.items() if is_match(where, document)}, where

    async def test_lists_page_by_key(self, record: Record, corpus: Corpus) -> None:
        keys = ["b", "a", "Z", "ä", "北"]
        await record.submissions.enqueue(corpus.id, [revision(k) for k in keys], OnConflict.REPLACE)
        seen, cursor = [], None
        while True:
            page = await record.documents.list(corpus.id, limit=2, cursor=cursor)
            seen += [d.key for d in page.data]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert seen == sorted(keys)
        page = await record.documents.list(corpus.id, limit=9, state=RevisionState.INDEXED)
        assert page.data == ()
        assert [d.key for d in (await record.documents.list(corpus.id, limit=9, key="a")).data] == ["a"]

    async def test_missing_things(self, record: Record, corpus: Corpus) -> None:
        with pytest.raises(NotFound):
            await record.jobs.get("f" * 32)
        with pytest.raises(NotFound):
            await record.documents.get(corpus.id, "f" * 32)
        assert await record.contents.get_chunks(corpus.id, ["f" * 32]) == {}
        assert await record.contents.get_chunks_of(corpus.id, "f" * 32) == []
        assert await record.contents.get_entities(corpus.id, []) == {}
        assert await record.claims.claim("f" * 32, "w", lease_seconds=LEASE, max_bytes=1) == []
