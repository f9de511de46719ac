"""How the chunks of a document change with a commit, and which synonyms are pending."""

from typing import Any

import pytest

from core.documents import Chunk
from core.errors import InvalidInput
from core.ports.record import ChunkRow, Claim, Commit
from core.record_policy.commits import check_one_corpus, compare_chunks, misses_entities


def row(id: str, *, extract_hash: str = "x", view_id: str = "v", position: int = 0, names: str = "") -> ChunkRow:
    chunk = Chunk(
        id=id, document_id="d", view_id=view_id, position=position, text="t", heading="", page=None, span=None
    )
    return ChunkRow(chunk=chunk, extract_hash=extract_hash, tokens=1, terms=b"terms", title_names=tuple(names.split()))


def stored(**columns: Any) -> dict[str, Any]:
    return {"extract_hash": "x", "view_id": "v", "position": 0, "title_names": "", "terms": b"terms", **columns}


@pytest.mark.parametrize(
    ("before", "after", "group", "logged"),
    [
        ({}, [row("a")], "made", {"a"}),
        ({"a": stored()}, [row("a")], "kept", set()),
        ({"a": stored(position=3)}, [row("a")], "kept", {"a"}),
        ({"a": stored(title_names="n m")}, [row("a", names="n m")], "kept", set()),
        ({"a": stored(title_names="n")}, [row("a", names="n m")], "kept", {"a"}),
        ({"a": stored(terms=b"")}, [row("a")], "kept", {"a"}),
        ({"a": stored(extract_hash="y")}, [row("a")], "changed", {"a"}),
        ({"a": stored(view_id="w")}, [row("a")], "changed", {"a"}),
        ({"a": stored()}, [], "deleted", set()),
    ],
)
def test_one_chunk_is_in_one_group(
    before: dict[str, dict[str, Any]], after: list[ChunkRow], group: str, logged: set[str]
) -> None:
    changes = compare_chunks(before, after, is_hidden=False)
    groups = {name: getattr(changes, name) for name in ("made", "changed", "kept", "deleted")}
    assert groups == {name: {"a"} if name == group else set() for name in groups}
    assert changes.logged == logged


def test_snapshots_read_all_chunks_of_a_document_that_was_hidden() -> None:
    changes = compare_chunks({"a": stored(), "b": stored()}, [row("a"), row("c")], is_hidden=True)
    assert changes.logged == {"a", "c"}
    assert (changes.made, changes.kept, changes.deleted) == ({"c"}, {"a"}, {"b"})


@pytest.mark.parametrize(("seen", "generation", "expected"), [(None, 5, False), (5, 5, False), (4, 5, True)])
def test_a_search_misses_the_entities_of_later_commits(seen: int | None, generation: int, expected: bool) -> None:
    assert misses_entities(seen, generation) is expected


def commit_in(corpus_id: str) -> Commit:
    return Commit(
        claim=Claim(
            corpus_id=corpus_id,
            document_id="d",
            key="k",
            revision=1,
            epoch=1,
            deletion=False,
            media_type="text/plain",
            content_hash="c",
            size=1,
            title=None,
            metadata={},
        )
    )


def test_a_commit_is_of_one_corpus() -> None:
    assert check_one_corpus([commit_in("c"), commit_in("c")]) == "c"
    for commits in ([], [commit_in("c"), commit_in("other")]):
        with pytest.raises(InvalidInput, match="revisions of one corpus, and at least one"):
            check_one_corpus(commits)
