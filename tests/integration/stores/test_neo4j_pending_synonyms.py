"""Synonyms of entities that are created while another worker commits a large document in slices are pending."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict
from core.graph import Synonym
from core.ports.record import Claim, Commit
from stores.neo4j.driver.transaction import Transaction
from stores.neo4j.record import Neo4jRecord
from stores.neo4j.record.commits import Neo4jCommits
from testing.graph_rows import told
from testing.record import SETTINGS, claim_all, commit_of, put, revision

pytestmark = pytest.mark.servers

_ROWS = 12
_LARGE = [(f"passage {i}", ["Ada", f"Name {i % 7}"]) for i in range(20)]
_OTHER = [(f"other {i}", ["Zed", f"Name {i % 7}"]) for i in range(20)]
_ADA, _BYRON = ids.entity_id("ada"), ids.entity_id("ada byron")
_PAIR = Synonym(first_id=min(_ADA, _BYRON), second_id=max(_ADA, _BYRON), score=0.9)


class _Cut(Exception):
    """The worker has died."""


class _Watched:
    """A database that calls functions before and after each transaction that writes."""

    def __init__(
        self, database: Any, *, before: Callable[[], Awaitable[None]], after: Callable[[], Awaitable[None]]
    ) -> None:
        self._database = database
        self._before = before
        self._after = after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    async def write(self, corpus_id: str, work: Callable[[Transaction], Any]) -> Any:
        await self._before()
        answer = await self._database.write(corpus_id, work)
        await self._after()
        return answer


@pytest.fixture
async def corpus(record: Neo4jRecord) -> Corpus:
    """A corpus with an entity whose name is similar to Ada."""
    corpus = await record.corpora.create("books", SETTINGS)
    await put(record, corpus, "b", [("b", ["Ada Byron"])])
    return corpus


def in_slices(database: Any) -> Neo4jCommits:
    return Neo4jCommits(database, slice_rows=_ROWS)


async def claim_of(record: Neo4jRecord, corpus: Corpus, key: str, content: str) -> Claim:
    await record.submissions.enqueue(corpus.id, [revision(key, content)], OnConflict.REPLACE)
    [claim] = await claim_all(record, corpus)
    return claim


async def are_joined(record: Neo4jRecord, corpus: Corpus) -> bool:
    _, rows = await record.graph.graph(corpus.id)
    return (_PAIR.first_id, _PAIR.second_id) in [pair[:2] for pair in told(rows).synonyms]


@pytest.mark.parametrize("how", ["removed", "replaced"])
async def test_an_entity_that_a_slice_deletes_and_another_commit_creates_again(
    record: Neo4jRecord, corpus: Corpus, how: str
) -> None:
    """The other worker searched before the entity was deleted. It commits before the first one has ended."""
    claim = await claim_of(record, corpus, "large", "1")
    await in_slices(record.database).commit([commit_of(claim, _LARGE)], [_PAIR], grace=3600)
    if how == "removed":
        await record.submissions.delete_documents(corpus.id, [claim.document_id])
        work = Commit(claim=(await claim_all(record, corpus))[0])
    else:
        work = commit_of(await claim_of(record, corpus, "large", "2"), _OTHER)
    small = await claim_of(record, corpus, "small", "s")
    seen, unsettled = 0, None

    async def look() -> None:
        nonlocal seen
        if unsettled is None and await record.contents.get_entities(corpus.id, [_ADA]):
            seen = await record.graph.generation(corpus.id)

    async def meet() -> None:
        nonlocal unsettled
        if unsettled is None and not await record.contents.get_entities(corpus.id, [_ADA]):
            outcome = await record.commits.commit([commit_of(small, [("s", ["Ada"])])], grace=3600, seen=seen)
            unsettled = outcome.pending_synonyms

    await in_slices(_Watched(record.database, before=look, after=meet)).commit([work], grace=3600)
    assert unsettled == (_ADA,)


async def test_a_commit_that_is_repeated_after_a_crash_between_slices(record: Neo4jRecord, corpus: Corpus) -> None:
    """The worker that repeats the commit finds the entities of slices, which it then deletes."""
    claim = await claim_of(record, corpus, "large", "1")
    seen = await record.graph.generation(corpus.id)

    async def die() -> None:
        if await record.contents.get_entities(corpus.id, [_ADA]):
            raise _Cut

    async def nothing() -> None:
        pass

    dying = in_slices(_Watched(record.database, before=die, after=nothing))
    with pytest.raises(_Cut):
        await dying.commit([commit_of(claim, _LARGE)], [_PAIR], grace=3600, seen=seen)
    await record.claims.release([claim])
    [claim] = await claim_all(record, corpus)
    seen = await record.graph.generation(corpus.id)
    assert await record.contents.get_entities(corpus.id, [_ADA])  # so no search for its synonyms
    outcome = await in_slices(record.database).commit([commit_of(claim, _LARGE)], grace=3600, seen=seen)
    assert _ADA in outcome.pending_synonyms or await are_joined(record, corpus)


async def test_the_commit_of_another_worker_makes_synonyms_pending(record: Neo4jRecord, corpus: Corpus) -> None:
    """The claim of a large document is fenced; the rest of the batch is written."""
    await record.submissions.enqueue(corpus.id, [revision("large"), revision("small")], OnConflict.REPLACE)
    large, small = await claim_all(record, corpus)
    seen = await record.graph.generation(corpus.id)
    await record.claims.release([large])
    [theirs] = await claim_all(record, corpus)
    await record.commits.commit([commit_of(theirs, [("x", ["Bob"])])], grace=3600, seen=seen)
    mine = [commit_of(large, _LARGE), commit_of(small, [("s", ["Ada"])])]
    outcome = await in_slices(record.database).commit(mine, grace=3600, seen=seen)
    assert len(outcome.fenced) == 1
    assert outcome.pending_synonyms == (_ADA,)


async def test_without_another_worker_no_synonyms_are_pending_after_slices(record: Neo4jRecord, corpus: Corpus) -> None:
    await record.submissions.enqueue(corpus.id, [revision("large"), revision("small")], OnConflict.REPLACE)
    large, small = await claim_all(record, corpus)
    seen = await record.graph.generation(corpus.id)
    mine = [commit_of(large, _LARGE), commit_of(small, [("s", ["Bob"])])]
    outcome = await in_slices(record.database).commit(mine, [_PAIR], grace=3600, seen=seen)
    assert outcome.pending_synonyms == ()
    assert await are_joined(record, corpus)
