"""Commits of any size: plans the transactions, performs the small ones, and leaves large documents to `slices`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from core.errors import InvalidInput
from core.graph import Synonym
from core.ports.record import Commit, Outcome
from core.text.characters import NO_CHARACTER, is_valid_text
from stores.neo4j.commit.bounds import Bounds
from stores.neo4j.commit.changes import read_changes
from stores.neo4j.commit.delete import delete_documents, delete_extractions, delete_outdated
from stores.neo4j.commit.entities import Neo4jCommitEffects, delete_entities
from stores.neo4j.commit.finish import finish, make_current
from stores.neo4j.commit.insert import insert_changes, link_chunks
from stores.neo4j.commit.leftovers import delete_leftovers
from stores.neo4j.commit.slices import delete_in_slices, insert_in_slices
from stores.neo4j.commit.synonyms import pending_from, seen_after
from stores.neo4j.commit.tombstones import merge_tombstones, select_orphans
from stores.neo4j.driver.database import Neo4jDatabase, Row, Transaction
from stores.neo4j.driver.node_uids import document_uid
from stores.neo4j.driver.statements import statements
from stores.neo4j.leases.claims import valid_claims

__all__ = ["commit"]

_DOCUMENT_ROWS = 4  # of a document with its revisions and extractions


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """The commits of one transaction; or a single one that is too large for a transaction, if `is_large`."""

    commits: Sequence[Commit]
    is_large: bool


async def commit(
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
    for one in commits:
        row = stored.get(document_uid(one.claim))
        if row is not None and row["slices"] is not None:
            await delete_leftovers(database, corpus_id, one.claim.document_id, row["slices"], bounds, one.claim)
    outcomes: list[Outcome] = []
    for plan in plans:
        if not plan.is_large:
            work = partial(_commit, commits=plan.commits, synonyms=synonyms, grace=bounds.grace, seen=seen)
            outcomes.append(await database.write(corpus_id, work))
        elif plan.commits[0].claim.deletion:
            outcomes += (sliced := await delete_in_slices(database, plan.commits[0], bounds))
            if not any(one.fenced for one in sliced):
                work = partial(_commit, commits=plan.commits, synonyms=(), grace=bounds.grace, seen=None)
                outcomes.append(await database.write(corpus_id, work))
        else:
            outcomes += await insert_in_slices(database, plan.commits[0], synonyms, bounds, seen)
        seen = seen_after(seen, outcomes[-1])
    return await _merge(database, outcomes)


def _check_characters(commits: Sequence[Commit]) -> None:
    """Raises `InvalidInput` if a text holds half of a surrogate pair. The driver's error does not name the document."""
    for one in commits:
        texts = chain.from_iterable((row.chunk.text, row.chunk.heading) for row in one.chunks)
        words = chain((one.title,), texts, (m.form for m in one.mentions), (f.predicate for f in one.facts))
        if not all(map(is_valid_text, words)):
            raise InvalidInput(f"document {one.claim.key!r} {NO_CHARACTER}")


def _read_documents(tx: Transaction, commits: Sequence[Commit]) -> dict[str, Row]:
    """Returns the estimated number of rows of each document, and its unfinished slices, by document uid."""
    uids = sorted({document_uid(one.claim) for one in commits})
    return {row["uid"]: row for row in tx.rows_in_batches(statements("commits")["document_sizes"], uids)}


def _plan(commits: Sequence[Commit], stored: Mapping[str, Row], max_rows: int) -> list[_Plan]:
    """Groups commits, in their order, into transactions of at most `max_rows` rows."""
    plans: list[_Plan] = []
    group: list[Commit] = []
    total = 0
    for one in commits:
        row = stored.get(document_uid(one.claim))
        rows = _DOCUMENT_ROWS + len(one.chunks) + len(one.mentions) + len(one.facts) + (int(row["rows"]) if row else 0)
        if group and total + rows > max_rows:
            plans.append(_Plan(commits=group, is_large=total > max_rows))
            group, total = [], 0
        group.append(one)
        total += rows
    return [*plans, _Plan(commits=group, is_large=total > max_rows)]


def _commit(
    tx: Transaction, commits: Sequence[Commit], synonyms: Sequence[Synonym], grace: float, seen: int | None
) -> Outcome:
    """Makes revisions of one corpus current, or deletes their documents. Ignores those whose claims are fenced."""
    jobs = valid_claims(tx, [one.claim for one in commits])
    valid = [one for one in commits if one.claim.token in jobs]
    deletions = [one for one in valid if one.claim.deletion]
    changes = read_changes(tx, [one for one in valid if not one.claim.deletion])
    effects = Neo4jCommitEffects(corpus_id=commits[0].claim.corpus_id, pending_from=pending_from(tx, seen, grace))
    delete_outdated(tx, deletions, changes, effects)
    formless = insert_changes(tx, changes, effects)
    delete_entities(tx, effects, formless)
    link_chunks(tx, changes)
    make_current(tx, changes, jobs, effects)
    delete_extractions(tx, {one.uid: {row.extract_hash for row in one.commit.chunks} for one in changes})
    delete_documents(tx, deletions, effects)
    return finish(
        tx,
        effects,
        synonyms,
        formless=formless,
        claims=[one.claim for one in valid],
        grace=grace,
        fenced=[one.claim for one in commits if one.claim.token not in jobs],
    )


async def _merge(database: Neo4jDatabase, outcomes: Sequence[Outcome]) -> Outcome:
    """Returns the outcome of all transactions.

    The tombstones list all triples that lost an assertion, and a later transaction may write again what an earlier one
    deleted. The merged tombstone lists only orphans. It is for the first deletion; the single tombstones remain stored.
    """
    tombstones = [one.tombstone for one in outcomes if one.tombstone is not None]
    merged = merge_tombstones(tombstones) if tombstones else None
    return Outcome(
        generation=outcomes[-1].generation,
        fenced=tuple(claim for one in outcomes for claim in one.fenced),
        tombstone=await database.read(lambda tx: select_orphans(tx, merged)) if merged else None,
        pending_synonyms=tuple(sorted({id for one in outcomes for id in one.pending_synonyms})),
    )
