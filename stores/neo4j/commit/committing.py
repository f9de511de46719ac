"""Commits of any size: small ones together in a transaction, a large document in slices of several."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

from core.errors import InvalidInput
from core.graph import Synonym
from core.ports.record import Commit, Outcome
from core.text.characters import NO_CHARACTER, is_whole
from stores.neo4j.commit.commits import commit as commit_whole
from stores.neo4j.commit.departures import Bounds
from stores.neo4j.commit.outcomes import merged
from stores.neo4j.commit.slices import remove_in_slices, replace_in_slices
from stores.neo4j.commit.synonyms import missed, seen_after
from stores.neo4j.commit.tidying import tidy
from stores.neo4j.driver.batched import rows_of
from stores.neo4j.driver.database import Database, Row, Transaction
from stores.neo4j.driver.statements import statements
from stores.neo4j.driver.uids import document_uid

__all__ = ["commit"]

_DOCUMENT_ROWS = 4  # of a document with its revisions and extractions


async def commit(
    database: Database, commits: Sequence[Commit], synonyms: Sequence[Synonym], bounds: Bounds, seen: int | None = None
) -> Outcome:
    """See `core.ports.record.Commits.commit`. Each document is committed whole; where they are too many for one
    transaction, some are readable before others.
    """
    _refuse_halves(commits)
    corpus_id = commits[0].claim.corpus_id
    there = await database.read(lambda tx: _there(tx, commits))
    for one in commits:
        row = there.get(document_uid(one.claim))
        if row is not None and row["slices"] is not None:
            await tidy(database, corpus_id, one.claim.document_id, row["slices"], bounds, one.claim)
    outcomes = []
    for group in _groups(commits, there, bounds.rows):
        first = group[0]
        if _rows(first, there) <= bounds.rows:
            work = partial(commit_whole, commits=group, synonyms=synonyms, grace=bounds.grace, seen=seen)
            outcomes.append(await database.write(corpus_id, work))
        elif first.claim.deletion:
            outcomes += await remove_in_slices(database, first, bounds)
        else:
            outcomes += await replace_in_slices(database, first, synonyms, bounds, seen)
        seen = missed(seen) if outcomes[-1].fenced else seen_after(seen, outcomes[-1].generation)
    return await merged(database, outcomes)


def _refuse_halves(commits: Sequence[Commit]) -> None:
    """Neo4j knows characters only, and its driver cannot say which document holds something else."""
    for one in commits:
        texts = chain.from_iterable((row.chunk.text, row.chunk.heading) for row in one.chunks)
        words = chain((one.title,), texts, (m.form for m in one.mentions), (f.predicate for f in one.facts))
        if not all(map(is_whole, words)):
            raise InvalidInput(f"document {one.claim.key!r} {NO_CHARACTER}")


def _there(tx: Transaction, commits: Sequence[Commit]) -> dict[str, Row]:
    uids = sorted({document_uid(one.claim) for one in commits})
    return {row["uid"]: row for row in rows_of(tx, statements("commits")["weights"], uids)}


def _groups(commits: Sequence[Commit], there: Mapping[str, Row], most: int) -> Iterator[list[Commit]]:
    """Commits for one transaction each, in their order; one that is too large for it is alone."""
    group: list[Commit] = []
    total = 0
    for one in commits:
        rows = _rows(one, there)
        if group and total + rows > most:
            yield group
            group, total = [], 0
        group.append(one)
        total += rows
    yield group


def _rows(one: Commit, there: Mapping[str, Row]) -> int:
    row = there.get(document_uid(one.claim))
    before = row["rows"] if row is not None else 0
    return _DOCUMENT_ROWS + len(one.chunks) + len(one.mentions) + len(one.facts) + int(before)
