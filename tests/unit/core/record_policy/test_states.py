"""Groups of states, pages, and the change log."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.documents import Document, RevisionState
from core.record_policy.commits import BLOCKING, is_covered
from core.record_policy.documents import make_page
from core.record_policy.errors import corpus_name_missing
from core.record_policy.submissions import RETRIABLE, STOPPABLE, UNFINISHED, WORKING

DOCUMENT = Document(
    id="d",
    key="a",
    title="A",
    metadata={},
    state=RevisionState.INDEXED,
    reason=None,
    readable=True,
    chunks=1,
    malformed_triples=0,
    media_type="text/plain",
    size=1,
    content_hash="c",
    updated_at=datetime(2024, 1, 1, tzinfo=UTC),
)


def test_a_state_is_final_or_stoppable() -> None:
    final = {state for state in RevisionState if state.final}
    assert final.isdisjoint(STOPPABLE)
    assert final | set(STOPPABLE) == set(RevisionState)
    assert set(WORKING) < set(UNFINISHED) < set(STOPPABLE)
    assert set(RETRIABLE) < final
    assert set(BLOCKING) == set(UNFINISHED) - {RevisionState.DELETING}


@pytest.mark.parametrize(("keys", "limit", "cursor"), [("", 2, None), ("ab", 2, None), ("abc", 2, "b"), ("a", 1, None)])
def test_a_page_ends_with_its_cursor(keys: str, limit: int, cursor: str | None) -> None:
    page = make_page(keys, limit, lambda key: replace(DOCUMENT, key=key))
    assert [document.key for document in page.data] == list(keys[:limit])
    assert page.next_cursor == cursor


@pytest.mark.parametrize(
    ("since", "deleted_up_to", "generation", "expected"),
    [(3, 0, 5, True), (5, 5, 5, True), (4, 5, 6, False), (7, 0, 6, False), (0, 0, 0, True)],
)
def test_the_log_covers_what_it_has_not_deleted(
    since: int, deleted_up_to: int, generation: int, expected: bool
) -> None:
    assert is_covered(since, deleted_up_to=deleted_up_to, generation=generation) is expected


@pytest.mark.parametrize(("names", "end"), [([], "there is none yet"), (["a", "b"], "there are: a, b")])
def test_a_missing_corpus_names_those_that_exist(names: list[str], end: str) -> None:
    assert str(corpus_name_missing("x", names)) == f"there is no corpus 'x'; {end}"
