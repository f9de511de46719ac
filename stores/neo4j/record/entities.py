"""Entities in a commit: their forms, the displayed form, their synonyms, and deleting entities without a form.

`Neo4jCommitEffects` collects what a transaction inserts and deletes. Entities are written once, from the sums.

Two workers that create similar entities at the same time may both miss the synonym. A commit therefore compares the
generation that its search has seen with the current generation; if another commit came between, the synonyms of its new
entities are pending.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.graph import Synonym
from core.ports.record import Outcome, RemovedDocument
from core.record_policy.commits import misses_entities
from stores.neo4j.driver.rows import uid_of
from stores.neo4j.driver.transaction import Row, Transaction, statements
from stores.neo4j.record.change_log import log_changes, raise_generation


@dataclass
class Neo4jCommitEffects:
    """What a transaction inserts and deletes in a corpus.

    `forms` are the changes of the counts by (entity id, form), `names` the normalised names of mentioned entities by
    id. `new_entities` are the entities that nothing mentioned before; their synonyms are pending from `pending_from`
    on, or not at all if that is None. `ends` are the subjects and objects of deleted facts, `triples` the ids of their
    triples. `view_ids` and `content_hashes` may no longer be in use. `written` and `deleted` are ids of chunks.
    `removed` are documents that are deleted, or lose contents.
    """

    corpus_id: str
    pending_from: float | None = None
    forms: Counter[tuple[str, str]] = field(default_factory=Counter)
    names: dict[str, str] = field(default_factory=dict)
    new_entities: set[str] = field(default_factory=set)
    ends: set[str] = field(default_factory=set)
    triples: set[str] = field(default_factory=set)
    view_ids: set[str] = field(default_factory=set)
    content_hashes: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    removed: list[RemovedDocument] = field(default_factory=list)

    @property
    def pending_synonyms(self) -> tuple[str, ...]:
        """The ids of the new entities whose synonyms are pending."""
        return () if self.pending_from is None else tuple(sorted(self.new_entities))


def update_entities(tx: Transaction, effects: Neo4jCommitEffects, fact_ends: Iterable[str]) -> list[str]:
    """Applies the counted forms, before mentions and facts are written. `fact_ends` are the ends of new facts.

    Returns the ids of the entities that have lost their last form, for `delete_entities`.
    """
    changes: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for (entity, form), change in effects.forms.items():
        if change:
            changes[entity][form] = change
    touched = changes.keys() | effects.names.keys() | set(fact_ends)
    uids = sorted(uid_of(effects.corpus_id, id) for id in touched)
    stored = {row["id"]: row for row in tx.rows_in_batches(statements("commits")["entities"], uids)}
    created, updated, formless = [], [], []
    appeared = 0
    for id in sorted(touched):
        forms = _add_counts(stored.get(id), changes.get(id, {}))
        is_new = bool(forms) and not (id in stored and stored[id]["forms"])
        if is_new:
            effects.new_entities.add(id)
        row = [
            *(id, list(forms), list(forms.values()), _display(forms) if forms else None, effects.names.get(id)),
            effects.pending_from if is_new else None,
        ]
        if id not in stored:
            created.append(row)
        elif id in changes:
            updated.append(row)
        if id in changes and not forms:
            formless.append(id)
        appeared += bool(forms) - bool(id in stored and stored[id]["forms"])
    tx.run_batches(statements("commits")["create_entities"], created, corpus_id=effects.corpus_id)
    tx.run_batches(statements("commits")["update_entities"], updated, corpus_id=effects.corpus_id)
    if appeared:
        tx.run(statements("commits")["add_entities"], corpus_id=effects.corpus_id, count=appeared)
    return formless


def _add_counts(stored: Row | None, changes: Mapping[str, int]) -> dict[str, int]:
    before = dict(zip(stored["forms"], stored["counts"], strict=True)) if stored else {}
    counts = {form: before.get(form, 0) + changes.get(form, 0) for form in (*before, *changes)}
    return {form: count for form, count in sorted(counts.items()) if count > 0}


def _display(forms: Mapping[str, int]) -> str:
    """Returns the most frequent form. Among equally frequent forms, returns the first by code point."""
    return min(forms, key=lambda form: (-forms[form], form))


def delete_entities(tx: Transaction, effects: Neo4jCommitEffects, formless: Sequence[str]) -> None:
    """Deletes entities without a form, with their synonyms and automatic merges.

    An entity that a fact still names stays until the fact is deleted; readers do not see it.
    """
    if formless:
        merges = statements("merges")["delete_automatic"]
        tx.run(merges, prefix=uid_of(effects.corpus_id, ""), ids=sorted(formless))
    tx.run_batches(statements("commits")["delete_synonyms"], sorted(uid_of(effects.corpus_id, id) for id in formless))
    candidates = sorted(uid_of(effects.corpus_id, id) for id in {*formless, *effects.ends})
    tx.run_batches(statements("commits")["delete_entities"], candidates)


_OUTDATED = -2
"""Neither this number nor the next one is a generation of a corpus."""


def pending_from(tx: Transaction, seen: int | None, grace: float) -> float | None:
    """Returns when the synonyms of new entities become pending; None if there was no commit since `seen`."""
    return tx.now + grace if misses_entities(seen, tx.corpus["generation"]) else None


def seen_after(seen: int | None, outcome: Outcome) -> int | None:
    """Returns the generation that the next transaction of the same commit has seen.

    This is the outcome's generation if only this commit has raised it, else a number that no corpus has.
    """
    if seen is None:
        return None
    return outcome.generation if outcome.generation == seen + 1 and not outcome.fenced else _OUTDATED


def write_synonyms(tx: Transaction, corpus_id: str, synonyms: Iterable[Synonym]) -> set[tuple[str, str]]:
    """Writes the synonyms whose entities both exist, and returns their pairs of entity ids."""
    rows = [
        {
            "first": uid_of(corpus_id, synonym.first_id),
            "second": uid_of(corpus_id, synonym.second_id),
            "score": synonym.score,
        }
        for synonym in sorted(synonyms, key=lambda synonym: (synonym.first_id, synonym.second_id))
    ]
    written = tx.rows_in_batches(statements("synonyms")["write"], rows)
    return {(row["first"], row["second"]) for row in written}


def pending_synonyms(tx: Transaction, corpus_id: str) -> list[str]:
    """Returns the ids of the entities whose synonyms are pending for longer than the grace of their commit."""
    return [row["id"] for row in tx.rows(statements("synonyms")["pending"], corpus_id=corpus_id, now=tx.now)]


def link_synonyms(tx: Transaction, corpus_id: str, entity_ids: Sequence[str], synonyms: Sequence[Synonym]) -> None:
    """Writes synonyms and raises the generation. The synonyms of `entity_ids` are no longer pending."""
    pairs = write_synonyms(tx, corpus_id, synonyms)
    log_changes(tx, corpus_id, raise_generation(tx, corpus_id), synonyms={id for pair in pairs for id in pair})
    tx.run_batches(statements("synonyms")["end_pending"], sorted(uid_of(corpus_id, id) for id in entity_ids))
