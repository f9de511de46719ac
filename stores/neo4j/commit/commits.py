"""The transaction that makes revisions current: rows in, rows out, and what is left to delete elsewhere."""

from collections.abc import Mapping, Sequence, Set
from typing import Any

from core.documents import RevisionState
from core.graph import Synonym
from core.ports.record import Commit, Outcome, Tombstone
from stores.neo4j.changes import log, raise_generation
from stores.neo4j.commit.arrivals import Arrivals
from stores.neo4j.commit.chains import pairs_of, read_chains, write_chains
from stores.neo4j.commit.chunk_rows import properties
from stores.neo4j.commit.effects import Effects
from stores.neo4j.commit.entities import bury_entities
from stores.neo4j.commit.removal import (
    drop_chunks,
    drop_documents,
    drop_extractions,
    drop_graph,
    drop_revisions,
)
from stores.neo4j.commit.revisions import Replacement, read_replacements
from stores.neo4j.commit.synonyms import due_if_missed, write_synonyms
from stores.neo4j.commit.tombstones import bury, still_gone
from stores.neo4j.driver.batched import rows_of
from stores.neo4j.driver.database import Transaction
from stores.neo4j.driver.statements import statements
from stores.neo4j.driver.uids import document_uid, revision_uid
from stores.neo4j.leases.claims import Token, held
from stores.neo4j.leases.states import move
from stores.payloads import dump

__all__ = ["commit", "entomb", "finish", "make_current", "remove_documents"]


def commit(
    tx: Transaction, commits: Sequence[Commit], synonyms: Sequence[Synonym], grace: float, seen: int | None = None
) -> Outcome:
    """Make revisions of one corpus current, or remove their documents; those whose claims were lost are left alone."""
    right = held(tx, [one.claim for one in commits])
    written = [one for one in commits if one.claim.token in right]
    removed = [one for one in written if one.claim.deletion]
    replaced = read_replacements(tx, [one for one in written if not one.claim.deletion])
    effects = Effects(corpus_id=commits[0].claim.corpus_id, unsettled_at=due_if_missed(tx, seen, grace))
    _take_out(tx, removed, replaced, effects)
    dead = _bring_in(tx, replaced, effects)
    bury_entities(tx, effects, dead)
    _chain(tx, replaced)
    make_current(tx, replaced, right, effects)
    drop_extractions(tx, {one.uid: {row.extract_hash for row in one.commit.chunks} for one in replaced})
    remove_documents(tx, removed, effects)
    generation = finish(tx, effects, synonyms)
    documents = [one.claim.document_id for one in written]
    return Outcome(
        generation=generation,
        fenced=tuple(one.claim for one in commits if one.claim.token not in right),
        tombstone=entomb(tx, effects, dead, documents, grace),
        pending_synonyms=effects.unsettled,
    )


def _take_out(tx: Transaction, removed: Sequence[Commit], replaced: Sequence[Replacement], effects: Effects) -> None:
    documents = sorted(document_uid(one.claim) for one in removed)
    going = rows_of(tx, statements("commits")["chunk_uids"], documents)
    going += [row for one in replaced for row in one.gone]
    drop_chunks(tx, {row["uid"]: row["view_id"] for row in going}, effects)
    effects.deleted |= {row["id"] for row in going}
    changing = [row for one in replaced for row in one.before.values()]
    drop_graph(tx, [row["uid"] for row in changing], effects)
    effects.old_views |= {row["view_id"] for row in changing}


def _bring_in(tx: Transaction, replaced: Sequence[Replacement], effects: Effects) -> list[str]:
    """Returns the entities that have lost their last form."""
    arrivals = Arrivals(effects)
    for one in replaced:
        arrivals.add(one.commit, made=one.made, changed=one.changed)
        arrivals.moved += one.moved
        arrivals.moved += [properties(effects.corpus_id, row) for row in one.changed]
        effects.old_views -= {row.chunk.view_id for row in one.changed}
        effects.put |= one.put
    return arrivals.write(tx)


def _chain(tx: Transaction, replaced: Sequence[Replacement]) -> None:
    there = read_chains(tx, [one.uid for one in replaced if one.current is not None])
    wanted = {pair for one in replaced for pair in pairs_of(one.commit)}
    write_chains(tx, wrong=there - wanted, missing=wanted - there)


def make_current(tx: Transaction, replaced: Sequence[Replacement], jobs: Mapping[Token, str], effects: Effects) -> None:
    """Show revisions, whose rows are there, to readers; the older ones go."""
    rows = [
        {"uid": one.uid, "job": jobs[one.commit.claim.token], "document": _document(one.commit)} for one in replaced
    ]
    tx.run_batches(statements("commits")["make_current"], sorted(rows, key=lambda row: str(row["uid"])))
    move(tx, [revision_uid(one.commit.claim) for one in replaced], RevisionState.INDEXED)
    drop_revisions(tx, {one.uid: one.commit.claim.revision for one in replaced}, effects)


def _document(one: Commit) -> dict[str, Any]:
    return {
        "title": one.title,
        "metadata": dump(dict(one.claim.metadata)),
        "current": one.claim.revision,
        "hidden": False,
        "chunks": len(one.chunks),
        "malformed": one.malformed_triples,
    }


def remove_documents(tx: Transaction, removed: Sequence[Commit], effects: Effects) -> None:
    """Remove documents, whose chunks are gone, with all their revisions."""
    uids = [document_uid(one.claim) for one in removed]
    move(tx, [revision_uid(one.claim) for one in removed], RevisionState.DELETED)
    drop_extractions(tx, dict.fromkeys(uids, ()))
    drop_revisions(tx, {document_uid(one.claim): one.claim.revision + 1 for one in removed}, effects)
    drop_documents(tx, uids)


def finish(
    tx: Transaction, effects: Effects, synonyms: Sequence[Synonym], joined: Set[tuple[str, str]] = frozenset()
) -> int:
    """Raise the generation, and log under it what changed; `joined` are pairs of synonyms that were written before."""
    generation = raise_generation(tx, effects.corpus_id)
    joined = joined | write_synonyms(tx, effects.corpus_id, synonyms)
    log(
        tx,
        effects.corpus_id,
        generation,
        put=effects.put,
        deleted=effects.deleted - effects.put,
        synonyms={id for pair in joined for id in pair},
    )
    return generation


def entomb(
    tx: Transaction, effects: Effects, dead: Sequence[str], documents: Sequence[str], grace: float
) -> Tombstone | None:
    """Note what views and files may still hold of what a transaction removed.

    Triples are noted that some chunk may still assert: whoever reads the tombstone asks for those that are left, and
    holds no lock meanwhile.
    """
    corpus_id = effects.corpus_id
    tombstone = Tombstone(
        id=0,
        corpus_id=corpus_id,
        view_ids=tuple(sorted(effects.old_views)),
        entity_ids=tuple(sorted(dead)),
        triple_ids=tuple(sorted(effects.triples)),
        content_hashes=tuple(still_gone(tx, corpus_id, "content_hashes", sorted(effects.contents))),
    )
    return bury(tx, tombstone, documents, grace)
