"""All documents that have given words are found, by the stems of their passages alone."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from core import ids
from core.ports.record.graph import GraphChunk, graph_rows
from core.ports.surveying import MOST_PASSAGES, Candidate, Wording, WordsAsked
from core.text.terms import extract_terms, split_words
from retrieval.graph.snapshot import GraphSnapshot, build_snapshot
from retrieval.surveying import SnapshotDocumentFinder, find_candidates
from testing.indexed_corpus import Passage
from tests.searching import open_world

ALL = 1_000


def snapshot_of(*documents: tuple[str, Sequence[str]]) -> GraphSnapshot:
    """A snapshot of documents, each with its title and the texts of its passages; the title is also its name."""
    chunks = [
        GraphChunk(
            id=chunk_id(title, position),
            document_id=ids.document_id(title),
            view_id=ids.document_id(f"{title}{position}"),
            position=position,
            title_names="",
            terms=extract_terms([title, ""], text).tobytes(),
        )
        for title, texts in documents
        for position, text in enumerate(texts)
    ]
    return build_snapshot(1, graph_rows(chunks=sorted(chunks)))


def chunk_id(title: str, position: int) -> str:
    return ids.chunk_id(title, "", position)


def wording(*terms: str) -> Wording:
    return frozenset(frozenset(word.stem for word in split_words(term)) for term in terms)


def titles(candidates: Sequence[Candidate], *names: str) -> list[str]:
    by_id = {ids.document_id(name): name for name in names}
    return sorted(by_id[candidate.document_id] for candidate in candidates)


PUMPS = snapshot_of(
    ("a", ["Pump seven failed.", "Nothing else."]),
    ("b", ["A pump.", "A valve failed.", "Pumps failed in Bremen."]),
    ("c", ["A pump ran.", "A valve failed."]),
    ("d", ["A valve ran."]),
)
FAILED = WordsAsked(together=(wording("pump"), wording("failed", "stood still")))


def test_documents_with_all_words_are_found_with_the_passages_that_have_them() -> None:
    found = find_candidates(PUMPS, FAILED, None, ALL)
    assert titles(found.documents, *"abcd") == ["a", "b", "c"]
    by_title = {titles([candidate], *"abcd")[0]: candidate for candidate in found.documents}
    assert by_title["a"].chunk_ids == (chunk_id("a", 0),)
    assert by_title["b"].chunk_ids == (chunk_id("b", 2),)
    assert (by_title["c"].is_together, by_title["c"].chunk_ids) == (False, (chunk_id("c", 0),))
    assert [by_title[title].passages for title in "abc"] == [2, 3, 2]


def test_documents_outside_of_the_selection_count_in_nothing() -> None:
    kept = frozenset(map(ids.document_id, "bd"))
    asked = WordsAsked(together=FAILED.together, kind=wording("report"), lacking=True)
    reported = snapshot_of(("report", ["A pump failed."]), ("b", ["Pumps failed."]), ("d", ["A valve ran."]))
    assert find_candidates(reported, asked, None, ALL).kind_is_known
    found = find_candidates(reported, asked, kept, 1)
    assert titles(found.documents, *"bd") == ["b"]
    assert (found.left_out, found.kind_is_known) == (1, False)
    assert find_candidates(PUMPS, FAILED, frozenset(), ALL).documents == ()


def test_documents_that_lack_words_come_last_with_their_first_passage() -> None:
    found = find_candidates(PUMPS, WordsAsked(together=FAILED.together, lacking=True), None, ALL).documents
    assert [candidate.has_words for candidate in found] == [True, True, True, False]
    assert (found[3].chunk_ids, found[3].is_together) == ((chunk_id("d", 0),), False)


def test_the_kind_is_told_by_the_title_or_the_first_heading() -> None:
    snapshot = snapshot_of(("Lease of Halden", ["It runs."]), ("Note", ["The lease runs."]))
    found = find_candidates(snapshot, WordsAsked(together=(wording("runs"),), kind=wording("lease")), None, ALL)
    assert found.kind_is_known
    assert [c.is_of_kind for c in found.documents if c.document_id == ids.document_id("Lease of Halden")] == [True]
    assert [c.is_of_kind for c in found.documents if c.document_id == ids.document_id("Note")] == [False]


def test_words_of_other_wordings_and_of_other_passages() -> None:
    snapshot = snapshot_of(("e", ["The pump stood.", "It is still."]), ("f", ["The pump stood still."]))
    assert titles(find_candidates(snapshot, FAILED, None, ALL).documents, "e", "f") == ["f"]
    asked = WordsAsked(together=(wording("pump"),), anywhere=(wording("down"),))
    assert titles(find_candidates(snapshot, asked, None, ALL).documents, "e", "f") == ["e", "f"]


def test_a_long_document_gives_its_first_passages() -> None:
    snapshot = snapshot_of(("g", ["The pump failed."] * (MOST_PASSAGES + 3)))
    (candidate,) = find_candidates(snapshot, FAILED, None, ALL).documents
    assert candidate.chunk_ids == tuple(chunk_id("g", n) for n in range(MOST_PASSAGES))
    assert candidate.left_out == 3


def test_more_documents_than_are_wanted_are_counted() -> None:
    found = find_candidates(PUMPS, FAILED, None, 2)
    assert (len(found.documents), found.left_out) == (2, 1)


def test_without_words_all_documents_are_found_with_their_first_passage_and_in_an_empty_corpus_none() -> None:
    found = find_candidates(PUMPS, WordsAsked(), None, ALL).documents
    assert sorted(candidate.chunk_ids for candidate in found) == sorted((chunk_id(title, 0),) for title in "abcd")
    assert find_candidates(snapshot_of(), FAILED, None, ALL).documents == ()


@pytest.mark.parametrize("mapped", [False, True])
async def test_the_finder_follows_the_record(tmp_path: Path, mapped: bool) -> None:
    """Also where the snapshot is compared with the record every hour only."""
    async with open_world(tmp_path, interval=3600, mapped=mapped) as world:
        finder = SnapshotDocumentFinder(world.backends)
        await world.put([Passage(key=key, title=key, text="The pump failed.") for key in "xy"])
        found = (await finder.find(world.corpus, FAILED, None, ALL)).documents
        assert titles(found, "x", "y") == ["x", "y"]
        await world.remove(["x"])
        await world.put([Passage(key="z", title="z", text="A pump stood still.")])
        later = (await finder.find(world.corpus, FAILED, None, ALL)).documents
        assert titles(later, "y", "z") == ["y", "z"]
        gone = [candidate for candidate in found if candidate not in later]
        assert await finder.get_refs(world.corpus, [candidate.document_id for candidate in gone]) == {}
        assert await finder.get_chunks(world.corpus, [id for candidate in gone for id in candidate.chunk_ids]) == {}
        kept = found[0] if found[1] in gone else found[1]
        texts = [chunk.text for chunk in await finder.list_chunks(world.corpus, kept.document_id)]
        assert texts == ["The pump failed."]
