"""The transaction that makes revisions current. Open it first to learn what a commit does, and in which order."""

from collections.abc import Sequence

from core.graph import Synonym
from core.ports.record import Commit, Outcome
from core.record_policy.commits import misses_entities
from stores.sqlite.changes import log_chunks, raise_generation
from stores.sqlite.commit.documents import count_rows, delete_document, replace_document
from stores.sqlite.commit.effects import SqliteCommitEffects
from stores.sqlite.commit.entities import delete_unsupported, select_new
from stores.sqlite.commit.graph import insert_graph
from stores.sqlite.commit.synonyms import add_pending, write_synonyms
from stores.sqlite.commit.tombstones import write_effects
from stores.sqlite.database import Connection
from stores.sqlite.leases.claims import select_valid
from stores.sqlite.numbers import make_corpus_number

__all__ = ["commit"]


def commit(
    cx: Connection,
    corpus_id: str,
    commits: Sequence[Commit],
    synonyms: Sequence[Synonym],
    *,
    grace: float,
    seen: int | None,
) -> Outcome:
    """See `core.ports.record.Commits.commit`; all commits are of the corpus `corpus_id`."""
    valid = select_valid(cx, [one.claim for one in commits])
    effects = SqliteCommitEffects(corpus_id, make_corpus_number(cx, corpus_id))
    for one in commits:
        seq = valid.get(one.claim.token)
        if seq is None:
            continue
        if one.claim.deletion:
            delete_document(cx, one, seq, effects)
        else:
            replace_document(cx, one, seq, effects)
    generation = raise_generation(cx, corpus_id)
    pending = select_new(cx, effects) if misses_entities(seen, generation - 1) else []
    insert_graph(cx, effects)
    count_rows(cx, effects)
    orphans = delete_unsupported(cx, effects)
    write_synonyms(cx, corpus_id, synonyms, generation)
    add_pending(cx, corpus_id, pending, grace)
    log_chunks(cx, corpus_id, generation, effects.deleted)
    log_chunks(cx, corpus_id, generation, effects.inserted)
    return Outcome(
        generation=generation,
        fenced=tuple(one.claim for one in commits if one.claim.token not in valid),
        tombstone=write_effects(cx, effects, orphans, grace),
        pending_synonyms=tuple(pending),
    )
