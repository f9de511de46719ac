"""The last steps of a commit, small or in slices: making revisions current, the change log, and the tombstone."""

from collections.abc import Mapping, Sequence, Set
from typing import Any

from core.documents import RevisionState
from core.graph import Synonym
from core.ports.record import Claim, Commit, Outcome
from stores.neo4j.commit.change_log import log_changes, raise_generation
from stores.neo4j.commit.changes import Change
from stores.neo4j.commit.delete import delete_revisions
from stores.neo4j.commit.entities import Neo4jCommitEffects
from stores.neo4j.commit.synonyms import write_synonyms
from stores.neo4j.commit.tombstones import write_tombstone
from stores.neo4j.driver.database import Transaction
from stores.neo4j.driver.node_uids import revision_uid
from stores.neo4j.driver.statements import statements
from stores.neo4j.leases.claims import Token
from stores.neo4j.leases.states import move
from stores.payloads import dump

__all__ = ["finish", "make_current"]


def make_current(
    tx: Transaction, changes: Sequence[Change], jobs: Mapping[Token, str], effects: Neo4jCommitEffects
) -> None:
    """Shows revisions, whose rows are inserted, to readers, and deletes the older ones. `jobs` are by claim."""
    rows = [{"uid": one.uid, "job": jobs[one.commit.claim.token], "document": _document(one.commit)} for one in changes]
    rows.sort(key=lambda row: str(row["uid"]))
    tx.run_batches(statements("commits")["make_current"], rows, corpus_id=effects.corpus_id)
    move(tx, [revision_uid(one.commit.claim) for one in changes], RevisionState.INDEXED)
    delete_revisions(tx, {one.uid: one.commit.claim.revision for one in changes}, effects)


def _document(one: Commit) -> dict[str, Any]:
    return {
        "title": one.title,
        "metadata": dump(dict(one.metadata)),
        "current": one.claim.revision,
        "hidden": False,
        "chunks": len(one.chunks),
        "facts": len(one.facts),
        "mentions": sum(mention.count for mention in one.mentions),
        "malformed": one.malformed_triples,
    }


def finish(
    tx: Transaction,
    effects: Neo4jCommitEffects,
    synonyms: Sequence[Synonym],
    *,
    formless: Sequence[str],
    claims: Sequence[Claim],
    grace: float,
    fenced: Sequence[Claim] = (),
    linked: Set[tuple[str, str]] = frozenset(),
) -> Outcome:
    """Raises the generation, writes synonyms and a tombstone, and logs the changes.

    `formless` are the entities that have lost their last form, `claims` those whose revisions were written, `linked`
    the pairs of entities whose synonyms earlier transactions of the same commit have written.
    """
    generation = raise_generation(tx, effects.corpus_id)
    pairs = linked | write_synonyms(tx, effects.corpus_id, synonyms)
    log_changes(
        tx,
        effects.corpus_id,
        generation,
        put=effects.written,
        deleted=effects.deleted - effects.written,
        synonyms={id for pair in pairs for id in pair},
    )
    return Outcome(
        generation=generation,
        fenced=tuple(fenced),
        tombstone=write_tombstone(tx, effects, formless, [claim.document_id for claim in claims], grace),
        pending_synonyms=effects.pending_synonyms,
    )
