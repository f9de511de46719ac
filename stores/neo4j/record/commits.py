"""The ports of commits and tombstones in Neo4j.

A commit plans the transactions, performs the small ones with the steps of `commit_rows`, and leaves large documents to
`slices`.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain

from core.errors import InvalidInput, NotFound
from core.graph import Synonym
from core.ports.record import Commit, Outcome, Tombstone
from core.record_policy.commits import check_one_corpus
from core.text.characters import NO_CHARACTER, is_valid_text
from stores.neo4j.driver.database import Neo4jDatabase
from stores.neo4j.driver.rows import document_uid
from stores.neo4j.driver.transaction import Row, Transaction, statements
from stores.neo4j.record.change_log import (
    delete_tombstones,
    due_tombstones,
    insert_tombstone,
    merge_tombstones,
    select_orphans,
)
from stores.neo4j.record.claims import valid_claims
from stores.neo4j.record.commit_rows import (
    delete_documents,
    delete_extractions,
    delete_outdated,
    finish,
    insert_changes,
    link_chunks,
    make_current,
    read_changes,
)
from stores.neo4j.record.entities import (
    Neo4jCommitEffects,
    delete_entities,
    link_synonyms,
    pending_from,
    pending_synonyms,
    seen_after,
)
from stores.neo4j.record.slices import (
    SLICE_ROWS,
    Bounds,
    delete_abandoned_leftovers,
    delete_in_slices,
    delete_leftovers,
    insert_in_slices,
)

_DOCUMENT_ROWS = 4  # of a document with its revisions and extractions


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """The commits of one transaction; or a single one that is too large for a transaction, if `is_large`."""

    commits: Sequence[Commit]
    is_large: bool


async def _commit_in_transactions(
    database: Neo4jDatabase,
    commits: Sequence[Commit],
    synonyms: Sequence[Synonym],
    bounds: Bounds,
    seen: int | None = None,
) -> Outcome:
    """Implements `core.ports.record.Commits.commit`.

    Each document is committed whole. If the documents need several transactions, some are readable before others.
    """
    _check_characters(commits)
    corpus_id = commits[0].claim.corpus_id
    stored = await database.read(lambda tx: _read_documents(tx, commits))
    plans = _plan(commits, stored, bounds.rows)
    for commit in commits:
        row = stored.get(document_uid(commit.claim))
        if row is not None and row["slices"] is not None:
            await delete_leftovers(database, corpus_id, commit.claim.document_id, row["slices"], bounds, commit.claim)
    outcomes: list[Outcome] = []
    for plan in plans:
        if not plan.is_large:
            work = partial(_commit, commits=plan.commits, synonyms=synonyms, grace=bounds.grace, seen=seen)
            outcomes.append(await database.write(corpus_id, work))
        elif plan.commits[0].claim.deletion:
            outcomes += (sliced := await delete_in_slices(database, plan.commits[0], bounds))
            if not any(outcome.fenced for outcome in sliced):
                work = partial(_commit, commits=plan.commits, synonyms=(), grace=bounds.grace, seen=None)
                outcomes.append(await database.write(corpus_id, work))
        else:
            outcomes += await insert_in_slices(database, plan.commits[0], synonyms, bounds, seen)
        seen = seen_after(seen, outcomes[-1])
    return await _merge(database, outcomes)


def _check_characters(commits: Sequence[Commit]) -> None:
    """Raises `InvalidInput` if a text holds half of a surrogate pair. The driver's error does not name the document."""
    for commit in commits:
        texts = chain.from_iterable((row.chunk.text, row.chunk.heading) for row in commit.chunks)
        words = chain((commit.title,), texts, (m.form for m in commit.mentions), (f.predicate for f in commit.facts))
        if not all(map(is_valid_text, words)):
            raise InvalidInput(f"document {commit.claim.key!r} {NO_CHARACTER}")


def _read_documents(tx: Transaction, commits: Sequence[Commit]) -> dict[str, Row]:
    """Returns the estimated number of rows of each document, and its unfinished slices, by document uid."""
    uids = sorted({document_uid(commit.claim) for commit in commits})
    return {row["uid"]: row for row in tx.rows_in_batches(statements("commits")["document_sizes"], uids)}


def _plan(commits: Sequence[Commit], stored: Mapping[str, Row], max_rows: int) -> list[_Plan]:
    """Groups commits, in their order, into transactions of at most `max_rows` rows."""
    plans: list[_Plan] = []
    group: list[Commit] = []
    total = 0
    for commit in commits:
        row = stored.get(document_uid(commit.claim))
        rows = (
            _DOCUMENT_ROWS
            + len(commit.chunks)
            + len(commit.mentions)
            + len(commit.facts)
            + (int(row["rows"]) if row else 0)
        )
        if group and total + rows > max_rows:
            plans.append(_Plan(commits=group, is_large=total > max_rows))
            group, total = [], 0
        group.append(commit)
        total += rows
    return [*plans, _Plan(commits=group, is_large=total > max_rows)]


def _commit(
    tx: Transaction, commits: Sequence[Commit], synonyms: Sequence[Synonym], grace: float, seen: int | None
) -> Outcome:
    """Makes revisions of one corpus current, or deletes their documents. Ignores commits whose claims are fenced."""
    jobs = valid_claims(tx, [commit.claim for commit in commits])
    valid = [commit for commit in commits if commit.claim.token in jobs]
    deletions = [commit for commit in valid if commit.claim.deletion]
    changes = read_changes(tx, [commit for commit in valid if not commit.claim.deletion])
    effects = Neo4jCommitEffects(corpus_id=commits[0].claim.corpus_id, pending_from=pending_from(tx, seen, grace))
    delete_outdated(tx, deletions, changes, effects)
    formless = insert_changes(tx, changes, effects)
    delete_entities(tx, effects, formless)
    link_chunks(tx, changes)
    make_current(tx, changes, jobs, effects)
    delete_extractions(tx, {change.uid: {row.extract_hash for row in change.commit.chunks} for change in changes})
    delete_documents(tx, deletions, jobs, effects)
    return finish(
        tx,
        effects,
        synonyms,
        formless=formless,
        claims=[commit.claim for commit in valid],
        grace=grace,
        fenced=[commit.claim for commit in commits if commit.claim.token not in jobs],
    )


async def _merge(database: Neo4jDatabase, outcomes: Sequence[Outcome]) -> Outcome:
    """Returns the outcome of all transactions.

    The tombstones list all triples that lost an assertion, and a later transaction may write again what an earlier
    transaction deleted. The merged tombstone lists only orphans. It is for the first deletion; the single tombstones
    remain stored.
    """
    tombstones = [outcome.tombstone for outcome in outcomes if outcome.tombstone is not None]
    merged = merge_tombstones(tombstones) if tombstones else None
    return Outcome(
        generation=outcomes[-1].generation,
        fenced=tuple(claim for outcome in outcomes for claim in outcome.fenced),
        tombstone=await database.read(lambda tx: select_orphans(tx, merged)) if merged else None,
        pending_synonyms=tuple(sorted({id for outcome in outcomes for id in outcome.pending_synonyms})),
    )


class Neo4jCommits:
    """Implements `core.ports.record.Commits`."""

    def __init__(self, database: Neo4jDatabase, *, slice_rows: int = SLICE_ROWS) -> None:
        """`slice_rows` is the approximate number of chunks, mentions and facts that a transaction writes or deletes."""
        self._database = database
        self._slice_rows = slice_rows

    async def commit(
        self, commits: Sequence[Commit], synonyms: Sequence[Synonym] = (), *, grace: float, seen: int | None = None
    ) -> Outcome:
        check_one_corpus(commits)
        return await _commit_in_transactions(
            self._database, commits, synonyms, Bounds(rows=self._slice_rows, grace=grace), seen
        )

    async def list_pending_synonyms(self, corpus_id: str) -> list[str]:
        return await self._database.read(lambda tx: pending_synonyms(tx, corpus_id))

    async def link_synonyms(self, corpus_id: str, entity_ids: Sequence[str], synonyms: Sequence[Synonym]) -> None:
        await self._database.write(corpus_id, lambda tx: link_synonyms(tx, corpus_id, entity_ids, synonyms))


class Neo4jTombstones:
    """Implements `core.ports.record.Tombstones`."""

    def __init__(self, database: Neo4jDatabase, *, slice_rows: int = SLICE_ROWS) -> None:
        """`slice_rows` is the approximate number of chunks, mentions and facts that one transaction deletes."""
        self._database = database
        self._slice_rows = slice_rows

    async def write(self, tombstone: Tombstone, documents: Sequence[str], *, grace: float) -> None:
        await self._database.write(tombstone.corpus_id, lambda tx: insert_tombstone(tx, tombstone, documents, grace))

    async def list_due(self, corpus_id: str) -> list[Tombstone]:
        await delete_abandoned_leftovers(self._database, corpus_id, Bounds(rows=self._slice_rows, grace=0.0))
        return await self._database.read(lambda tx: due_tombstones(tx, corpus_id))

    async def select_orphans(self, tombstone: Tombstone) -> Tombstone:
        return await self._database.read(lambda tx: select_orphans(tx, tombstone))

    async def delete(self, tombstones: Sequence[Tombstone]) -> None:
        for corpus_id in sorted({tombstone.corpus_id for tombstone in tombstones}):
            some = [tombstone for tombstone in tombstones if tombstone.corpus_id == corpus_id]
            with suppress(NotFound):
                await self._database.write(corpus_id, partial(delete_tombstones, tombstones=some))
