"""A document too large for one transaction: written in slices that nobody sees, then shown by a small one.

Chunks of the new revision say from which revision on they belong to the document, those that go until which; a changed
chunk, whose id stays, is written beside the old one under a uid that ends in the revision's number. Then the small
transaction raises the document's `current`, and `tidying` removes what is not seen any more. Each slice checks the
claim first; what a lost one leaves behind, `tidying` removes, too.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from core.graph import Synonym
from core.ports.record import ChunkRow, Commit, Outcome
from stores.neo4j.commit.arrivals import Arrivals
from stores.neo4j.commit.commits import commit, entomb, finish, make_current
from stores.neo4j.commit.departures import Bounds, packed, take_away
from stores.neo4j.commit.effects import Effects
from stores.neo4j.commit.revisions import Replacement, read_replacements
from stores.neo4j.commit.synonyms import due_if_missed, write_synonyms
from stores.neo4j.commit.tidying import tidy
from stores.neo4j.driver.database import Database, Transaction, batches
from stores.neo4j.driver.statements import statements
from stores.neo4j.driver.uids import document_uid
from stores.neo4j.leases.claims import Token, held

__all__ = ["remove_in_slices", "replace_in_slices"]

_TOLD = 10_000  # chunks that are told in one transaction that they go


class _Lost(Exception):
    """The claim was lost on the way."""


async def replace_in_slices(
    database: Database, one: Commit, synonyms: Sequence[Synonym], bounds: Bounds, seen: int | None
) -> list[Outcome]:
    """Returns what each transaction did."""
    corpus_id, claim = one.claim.corpus_id, one.claim
    try:
        await database.write(corpus_id, lambda tx: _begin(tx, one, bounds.grace))
        replacement = await database.read(lambda tx: _read(tx, one))
        joined: set[tuple[str, str]] = set()
        unsettled: set[str] = set()
        for part, suffix in _parts(replacement, bounds.rows):
            missed = partial(due_if_missed, seen=seen, grace=bounds.grace)
            work = partial(_write, one=one, rows=part, suffix=suffix, synonyms=synonyms, missed=missed)
            pairs, born = await database.write(corpus_id, work)
            joined |= pairs
            unsettled.update(born)
        for uids in batches(replacement.outdated, _TOLD):
            await database.write(corpus_id, partial(_tell, replacement=replacement, uids=uids))
        shown = partial(_show, replacement=replacement, joined=joined, synonyms=synonyms, grace=bounds.grace)
        outcome = await database.write(corpus_id, shown)
    except _Lost:
        return [await _nothing(database, one)]
    buried = await tidy(database, corpus_id, claim.document_id, claim.revision, bounds)
    outcome = replace(outcome, pending_synonyms=tuple(sorted(unsettled)))
    return [outcome, *(replace(outcome, tombstone=one) for one in buried)]


async def remove_in_slices(database: Database, one: Commit, bounds: Bounds) -> list[Outcome]:
    """The document is hidden; the last transaction removes it, with whatever is left."""
    corpus_id, uid = one.claim.corpus_id, document_uid(one.claim)
    chunks = await database.read(lambda tx: tx.rows(statements("commits")["chunk_uids"], rows=[uid]))
    try:
        outcomes = [
            await database.write(corpus_id, partial(_remove, one=one, rows=part, grace=bounds.grace))
            for part in packed(chunks, bounds.rows)
        ]
    except _Lost:
        return [await _nothing(database, one)]
    return [*outcomes, await database.write(corpus_id, lambda tx: commit(tx, [one], (), bounds.grace))]


def _check(tx: Transaction, one: Commit) -> Mapping[Token, str]:
    right = held(tx, [one.claim])
    if not right:
        raise _Lost
    return right


def _begin(tx: Transaction, one: Commit, grace: float) -> None:
    _check(tx, one)
    tx.run(
        statements("slices")["mark"],
        corpus_id=one.claim.corpus_id,
        uid=document_uid(one.claim),
        revision=one.claim.revision,
        grace=grace,
    )


def _read(tx: Transaction, one: Commit) -> Replacement:
    found = read_replacements(tx, [one])
    if not found:
        raise _Lost
    return found[0]


def _parts(replacement: Replacement, most: int) -> Iterator[tuple[list[ChunkRow], str]]:
    """The chunks to write in one transaction each, and what their uids end in."""
    one = replacement.commit
    weights: dict[str, int] = {row.chunk.id: 1 for row in one.chunks}
    for chunk_id in (*(m.chunk_id for m in one.mentions), *(f.chunk_id for f in one.facts)):
        weights[chunk_id] = weights.get(chunk_id, 0) + 1
    for rows, suffix in ((replacement.made, ""), (replacement.changed, f":{one.claim.revision}")):
        by_id = {row.chunk.id: row for row in rows}
        for part in packed([{"uid": id, "rows": weights[id]} for id in by_id], most):
            yield [by_id[row["uid"]] for row in part], suffix


def _write(
    tx: Transaction,
    one: Commit,
    rows: Sequence[ChunkRow],
    suffix: str,
    synonyms: Sequence[Synonym],
    missed: Callable[[Transaction], float | None],
) -> tuple[set[tuple[str, str]], tuple[str, ...]]:
    """Returns the pairs that were joined (synonyms go along, for who comes after a crash does not ask for those of
    entities that are there), and the entities that are unsettled.
    """
    _check(tx, one)
    arrivals = Arrivals(Effects(corpus_id=one.claim.corpus_id, unsettled_at=missed(tx)), suffix)
    arrivals.add(one, made=rows, changed=())
    arrivals.write(tx)
    named = arrivals.effects.names.keys()
    theirs = [synonym for synonym in synonyms if synonym.first_id in named or synonym.second_id in named]
    return write_synonyms(tx, one.claim.corpus_id, theirs), arrivals.effects.unsettled


def _tell(tx: Transaction, replacement: Replacement, uids: Sequence[str]) -> None:
    _check(tx, replacement.commit)
    tx.run_batches(statements("slices")["tell"], uids, last=replacement.current)


def _show(
    tx: Transaction, replacement: Replacement, joined: set[tuple[str, str]], synonyms: Sequence[Synonym], grace: float
) -> Outcome:
    """`joined` are pairs of synonyms that were written with the slices."""
    one = replacement.commit
    jobs = _check(tx, one)
    effects = Effects(corpus_id=one.claim.corpus_id, put=set(replacement.put))
    effects.deleted = {row["id"] for row in replacement.gone}
    moved = sorted(replacement.moved, key=lambda row: str(row["uid"]))
    tx.run_batches(statements("commits")["update_chunks"], moved)
    make_current(tx, [replacement], jobs, effects)
    left = [pair for pair in synonyms if (pair.first_id, pair.second_id) not in joined]
    generation = finish(tx, effects, left, joined)
    tombstone = entomb(tx, effects, (), [one.claim.document_id], grace)
    return Outcome(generation=generation, fenced=(), tombstone=tombstone)


def _remove(tx: Transaction, one: Commit, rows: Sequence[Mapping[str, str]], grace: float) -> Outcome:
    _check(tx, one)
    tombstone = take_away(tx, one.claim.corpus_id, rows, one.claim.document_id, grace)
    return Outcome(generation=tx.corpus["generation"], fenced=(), tombstone=tombstone)


async def _nothing(database: Database, one: Commit) -> Outcome:
    generation = await database.write(one.claim.corpus_id, lambda tx: int(tx.corpus["generation"]))
    return Outcome(generation=generation, fenced=(one.claim,), tombstone=None)
