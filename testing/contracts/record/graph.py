"""The contract of the record about the graph: as a whole, the changes between two generations, merges, and exports."""

import asyncio
from dataclasses import replace

import pytest

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict
from core.errors import Conflict, InvalidInput, NotFound
from core.ports.record import GraphMerge, Record
from core.record_policy import merges
from core.text.terms import extract_terms
from testing.graph_rows import told
from testing.record import SETTINGS, RecordFixtures, claim_all, commit_of, delete, export, graph_chunk, put, revision

__all__ = ["ExporterContract", "GraphSourceContract", "MergesContract", "ResolutionContract"]


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


ADA, LOVELACE, KING, BOB = (ids.entity_id(name) for name in ("ada", "lovelace", "king", "bob"))


async def pairs(record: Record, corpus: Corpus) -> set[tuple[str, str]]:
    return {(merge.from_id, merge.into_id) for merge in await record.merges.list(corpus.id)}


class MergesContract(RecordFixtures):
    @pytest.fixture
    async def people(self, record: Record, corpus: Corpus) -> Corpus:
        await put(record, corpus, "a", [("one", ["Ada", "Lovelace"])], facts=[("Ada", "met", "Bob")])
        await put(record, corpus, "b", [("two", ["King", "Bob"])])
        return corpus

    async def test_a_merge_and_its_undo_leave_everything_else(
        self, record: Record, other: Record, people: Corpus
    ) -> None:
        before = await export(record, people)
        start = await record.graph.generation(people.id)
        merge = await record.merges.merge(people.id, ADA, LOVELACE)
        assert (merge.from_id, merge.from_name, merge.into_id, merge.into_name) == (ADA, "ada", LOVELACE, "lovelace")
        assert merge.id == ids.merge_id(ADA, LOVELACE)
        assert await other.merges.list(people.id) == [merge]
        row = {"kind": "merge", "from_id": ADA, "from_name": "ada", "into_id": LOVELACE, "into_name": "lovelace"}
        after = await export(record, people)
        assert [one for one in after if one["kind"] == "merge"] == [row]
        assert [one for one in after if one["kind"] != "merge"] == before
        assert await other.graph.generation(people.id) == start + 1
        expected = (GraphMerge(ADA, "ada", LOVELACE, "lovelace"),)
        changes = await other.graph.changes(people.id, start)
        assert changes is not None
        assert (list(changes.removed), changes.added.merges) == ([], expected)
        assert (await other.graph.graph(people.id))[1].merges == expected
        assert await other.merges.undo(people.id, merge.id) == merge
        assert await export(record, people) == before
        assert (await record.graph.graph(people.id))[1].merges == ()

    async def test_merges_that_cannot_be(self, record: Record, people: Corpus) -> None:
        merges = record.merges
        with pytest.raises(InvalidInput, match="into itself"):
            await merges.merge(people.id, ADA, ADA)
        for pair in ((ADA, "f" * 32), ("f" * 32, ADA)):
            with pytest.raises(NotFound, match="f" * 32):
                await merges.merge(people.id, *pair)
        await merges.merge(people.id, ADA, LOVELACE)
        with pytest.raises(Conflict, match=f"undo the merge '{ids.merge_id(ADA, LOVELACE)}' first"):
            await merges.merge(people.id, ADA, KING)
        with pytest.raises(Conflict, match="are one already"):
            await merges.merge(people.id, LOVELACE, ADA)
        await merges.merge(people.id, LOVELACE, KING)
        with pytest.raises(Conflict, match="are one already"):
            await merges.merge(people.id, KING, ADA)
        with pytest.raises(NotFound, match="no merge"):
            await merges.undo(people.id, ids.merge_id(ADA, KING))
        with pytest.raises(NotFound):
            await merges.merge("f" * 32, ADA, LOVELACE)
        with pytest.raises(NotFound):
            await merges.list("f" * 32)
        assert await pairs(record, people) == {(ADA, LOVELACE), (LOVELACE, KING)}

    async def test_merges_are_undone_in_any_order(self, record: Record, people: Corpus) -> None:
        first = await record.merges.merge(people.id, ADA, LOVELACE)
        second = await record.merges.merge(people.id, LOVELACE, KING)
        await record.merges.undo(people.id, first.id)
        assert await pairs(record, people) == {(LOVELACE, KING)}
        await record.merges.merge(people.id, ADA, LOVELACE)
        await record.merges.undo(people.id, second.id)
        with pytest.raises(NotFound):
            await record.merges.undo(people.id, second.id)
        assert await pairs(record, people) == {(ADA, LOVELACE)}

    async def test_a_merge_stays_when_its_entities_come_and_go(self, record: Record, people: Corpus) -> None:
        await record.merges.merge(people.id, KING, LOVELACE)
        await delete(record, people, "a")
        await delete(record, people, "b")
        assert await pairs(record, people) == {(KING, LOVELACE)}
        with pytest.raises(NotFound, match="no passage"):
            await record.merges.merge(people.id, ADA, LOVELACE)
        await put(record, people, "b", [("two", ["King", "Bob"])])
        assert await pairs(record, people) == {(KING, LOVELACE)}
        await record.merges.undo(people.id, ids.merge_id(KING, LOVELACE))

    async def test_of_merges_at_once_one_comes_first(self, record: Record, other: Record, people: Corpus) -> None:
        found = await asyncio.gather(
            record.merges.merge(people.id, ADA, LOVELACE),
            other.merges.merge(people.id, LOVELACE, ADA),
            record.merges.merge(people.id, ADA, KING),
            other.merges.merge(people.id, ADA, BOB),
            return_exceptions=True,
        )
        assert all(isinstance(one, Conflict) for one in found if isinstance(one, BaseException))
        there = await pairs(record, people)
        assert len(there) == sum(not isinstance(one, BaseException) for one in found) >= 1
        assert there != {(ADA, LOVELACE), (LOVELACE, ADA)}
        assert len({merged for merged, _ in there}) == len(there)

    async def test_merges_are_adopted_as_far_as_they_fit(self, record: Record, people: Corpus) -> None:
        await record.merges.merge(people.id, ADA, LOVELACE)
        zoe = ids.entity_id("zoe")
        fitting = [GraphMerge(ADA, "ada", LOVELACE, "lovelace"), GraphMerge(zoe, "zoe", ADA, "ada")]
        start = await record.graph.generation(people.id)
        assert list(await record.merges.adopt(people.id, [fitting[0]])) == []
        assert await record.graph.generation(people.id) == start
        other = GraphMerge(ADA, "ada", KING, "king")
        assert list(await record.merges.adopt(people.id, [*fitting, other])) == [other]
        assert await pairs(record, people) == {(ADA, LOVELACE), (zoe, ADA)}
        assert await record.graph.generation(people.id) == start + 1

    async def test_merges_are_those_of_one_corpus(self, record: Record, people: Corpus) -> None:
        twin = await record.corpora.create("twin", SETTINGS)
        await record.merges.merge(people.id, ADA, LOVELACE)
        assert await pairs(record, twin) == set()
        with pytest.raises(NotFound):
            await record.merges.undo(twin.id, ids.merge_id(ADA, LOVELACE))

    async def test_the_corpus_that_takes_the_place_has_the_merges(self, record: Record, people: Corpus) -> None:
        built = await record.reindexing.start(people.id, SETTINGS)
        behind = await record.reindexing.compare(people.id)
        await record.submissions.enqueue(built.shadow_id, behind.revisions, OnConflict.REPLACE, job_id=built.job_id)
        shadow = await record.corpora.get_by_id(built.shadow_id)
        claims = await claim_all(record, shadow)
        await record.commits.commit([commit_of(claim, [("anew", ["Ada"])]) for claim in claims], grace=0)
        await record.merges.merge(people.id, ADA, LOVELACE)
        assert await record.reindexing.swap(people.id) is not None
        assert await pairs(record, shadow) == {(ADA, LOVELACE)}
        await record.maintenance.delete_corpus_rows(people.id)
        with pytest.raises(NotFound):
            await record.merges.list(people.id)


class ResolutionContract(RecordFixtures):
    @pytest.fixture
    async def pair(self, record: Record, corpus: Corpus) -> Corpus:
        await put(record, corpus, "a", [("one", ["Ada", "Lovelace"])])
        await put(record, corpus, "b", [("two", ["King", "Bob"])])
        return corpus

    async def test_a_rejection_is_kept_until_it_is_withdrawn(self, record: Record, other: Record, pair: Corpus) -> None:
        start, before = await record.graph.generation(pair.id), await export(record, pair)
        made = await record.resolution.reject(pair.id, LOVELACE, ADA)
        assert (made.first_id, made.second_id) == tuple(sorted((ADA, LOVELACE)))
        assert made.id == ids.pair_id(ADA, LOVELACE)
        assert await other.resolution.reject(pair.id, ADA, LOVELACE) == made
        assert await other.resolution.list(pair.id) == [made]
        (row,) = [row for row in await export(record, pair) if row not in before]
        assert row == {"kind": "rejection", "first_id": made.first_id, "second_id": made.second_id}
        assert await record.graph.generation(pair.id) == start
        assert await other.resolution.withdraw(pair.id, made.id) == made
        assert await record.resolution.list(pair.id) == []
        assert await export(record, pair) == before

    async def test_a_rejection_outlives_its_entities_and_leaves_no_row_in_a_canonical_export(
        self, record: Record, corpus: Corpus
    ) -> None:
        await put(record, corpus, "a", [("one", ["Ada"])])
        before = await export(record, corpus)
        await put(record, corpus, "b", [("two", ["Bob"])])
        made = await record.resolution.reject(corpus.id, ADA, BOB)
        assert [row["kind"] for row in await export(record, corpus)].count("rejection") == 1
        await delete(record, corpus, "b")
        assert await export(record, corpus) == before
        assert await record.resolution.list(corpus.id) == [made]
        rows = [row async for row in record.exporter.rows(corpus.id, canonical=False)]
        assert {"kind": "rejection", "first_id": made.first_id, "second_id": made.second_id} in rows
        await put(record, corpus, "b", [("two", ["Bob"])])
        assert [row["kind"] for row in await export(record, corpus)].count("rejection") == 1

    async def test_rejections_are_adopted_up_to_the_bound(
        self, record: Record, pair: Corpus, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made = await record.resolution.reject(pair.id, ADA, LOVELACE)
        taken = [(made.first_id, made.second_id), ("a" * 32, "b" * 32), ("a" * 32, "c" * 32)]
        assert await record.resolution.adopt(pair.id, taken[:2]) == 0
        monkeypatch.setattr(merges, "MAX_REJECTIONS", 2)
        assert await record.resolution.adopt(pair.id, taken) == 1
        found = await record.resolution.list(pair.id)
        assert {(one.first_id, one.second_id) for one in found} == set(taken[:2])
        assert made in found
        with pytest.raises(NotFound):
            await record.resolution.adopt("f" * 32, taken)

    async def test_rejections_that_cannot_be(self, record: Record, pair: Corpus) -> None:
        with pytest.raises(Conflict, match="name two entities"):
            await record.resolution.reject(pair.id, ADA, ADA)
        with pytest.raises(NotFound, match="'none'"):
            await record.resolution.reject(pair.id, ADA, "none")
        with pytest.raises(NotFound, match="'none'"):
            await record.resolution.withdraw(pair.id, "none")
        with pytest.raises(NotFound):
            await record.resolution.list("f" * 32)

    async def test_the_threshold(self, record: Record, other: Record, pair: Corpus) -> None:
        assert await record.resolution.get_threshold(pair.id) is None
        await record.resolution.set_threshold(pair.id, 0.9)
        await record.resolution.set_threshold(pair.id, 0.95)
        assert await other.resolution.get_threshold(pair.id) == 0.95
        assert (await export(record, pair))[-1] == {"kind": "threshold", "merge_above": 0.95}
        await record.resolution.set_threshold(pair.id, None)
        assert await other.resolution.get_threshold(pair.id) is None

    async def test_the_schema(self, record: Record, other: Record, pair: Corpus) -> None:
        text = "# Größe\n[types.firm]\n"
        generation = await record.graph.generation(pair.id)
        assert await record.graph_schemas.get(pair.id) is None
        await record.graph_schemas.set(pair.id, "strict = true")
        await record.graph_schemas.set(pair.id, text)
        assert await other.graph_schemas.get(pair.id) == text
        assert (await export(record, pair))[-1] == {"kind": "schema", "text": text}
        assert await record.graph.generation(pair.id) == generation
        await record.graph_schemas.set(pair.id, None)
        assert await other.graph_schemas.get(pair.id) is None
        for unknown in (record.graph_schemas.get("f" * 32), record.graph_schemas.set("f" * 32, text)):
            with pytest.raises(NotFound):
                await unknown
        await record.graph_schemas.set(pair.id, text)
        await record.corpora.delete(pair.name)
        await record.maintenance.delete_corpus_rows(pair.id)
        with pytest.raises(NotFound):
            await record.graph_schemas.get(pair.id)

    async def test_an_automatic_merge_goes_with_its_entities(self, record: Record, pair: Corpus) -> None:
        before = await export(record, pair)
        made = await record.merges.merge(pair.id, ADA, BOB, automatic=True)
        assert made.automatic
        assert await export(record, pair) == before
        kept = await record.merges.merge(pair.id, LOVELACE, KING)
        assert [merge.automatic for merge in await record.merges.list(pair.id)].count(True) == 1
        await delete(record, pair, "b")
        assert await record.merges.list(pair.id) == [kept]
        await put(record, pair, "b", [("two", ["King", "Bob"])])
        again = await record.merges.merge(pair.id, ADA, BOB)
        assert not again.automatic

    async def test_no_automatic_merge_joins_a_rejected_pair(self, record: Record, pair: Corpus) -> None:
        await record.resolution.reject(pair.id, ADA, KING)
        with pytest.raises(Conflict, match="are two"):
            await record.merges.merge(pair.id, ADA, KING, automatic=True)
        start = await record.graph.generation(pair.id)
        first = await record.merges.merge(pair.id, ADA, LOVELACE, automatic=True)
        with pytest.raises(Conflict, match="are two"):
            await record.merges.merge(pair.id, LOVELACE, KING, automatic=True)
        with pytest.raises(Conflict, match="are two"):
            await record.merges.merge(pair.id, KING, LOVELACE, automatic=True)
        assert await record.graph.generation(pair.id) == start + 1
        await record.merges.merge(pair.id, KING, BOB, automatic=True)
        users = await record.merges.merge(pair.id, LOVELACE, BOB)
        assert not users.automatic, "a user may change their mind"
        assert len(await record.merges.list(pair.id)) == 3
        await record.merges.undo(pair.id, first.id)

    async def test_the_corpus_that_takes_the_place_has_the_decisions(self, record: Record, pair: Corpus) -> None:
        await record.graph_schemas.set(pair.id, "strict = false")
        built = await record.reindexing.start(pair.id, SETTINGS)
        behind = await record.reindexing.compare(pair.id)
        await record.submissions.enqueue(built.shadow_id, behind.revisions, OnConflict.REPLACE, job_id=built.job_id)
        shadow = await record.corpora.get_by_id(built.shadow_id)
        claims = await claim_all(record, shadow)
        await record.commits.commit([commit_of(claim, [("anew", ["Ada"])]) for claim in claims], grace=0)
        made = await record.resolution.reject(pair.id, ADA, LOVELACE)
        await record.resolution.set_threshold(pair.id, 0.9)
        assert await record.graph_schemas.get(built.shadow_id) == "strict = false"
        await record.graph_schemas.set(pair.id, "strict = true")
        assert await record.reindexing.swap(pair.id) is not None
        assert await record.resolution.list(shadow.id) == [made]
        assert await record.resolution.get_threshold(shadow.id) == 0.9
        assert await record.graph_schemas.get(shadow.id) == "strict = true"
        await record.maintenance.delete_corpus_rows(pair.id)
        with pytest.raises(NotFound):
            await record.resolution.list(pair.id)


class ExporterContract(RecordFixtures):
    async def test_content_equals_that_of_the_survivors_alone(self, record: Record, corpus: Corpus) -> None:
        clean = await record.corpora.create("clean", SETTINGS)
        a = [("one", ["Ada", "ADA"]), ("two", ["Bob"])]
        b = [("three", ["ada", "Cyd"])]
        for target in (corpus, clean):
            await put(record, target, "b", b, facts=[("Cyd", "met", "ada")])
        await put(record, corpus, "a", a, facts=[("Ada", "met", "Bob")])
        await put(record, corpus, "a", [("zero", ["Bob"]), *a])
        await put(record, corpus, "c", a)
        await delete(record, corpus, "c")
        await delete(record, corpus, "a")
        assert await export(record, corpus) == await export(record, clean)
        graph, expected = await record.graph.graph(corpus.id), await record.graph.graph(clean.id)
        assert told(graph[1]) == told(expected[1])

    async def test_deleting_removes_every_row(self, record: Record, corpus: Corpus) -> None:
        await put(record, corpus, "a", [("one", ["Ada", "Bob"])], facts=[("Ada", "met", "Bob")])
        await put(record, corpus, "b", [("two", ["Bob"])])
        await delete(record, corpus, "a")
        rows = await export(record, corpus)
        assert {r["name"] for r in rows if r["kind"] == "entity"} == {"bob"}
        assert not [r for r in rows if r["kind"] == "fact"]
        assert (await record.jobs.list())[0].counts == {"deleted": 1}
