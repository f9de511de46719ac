"""Entities: their forms counted, the names that they are shown by, and what goes with the last form."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from stores.neo4j.commit.effects import Effects
from stores.neo4j.driver.batched import rows_of
from stores.neo4j.driver.database import Row, Transaction
from stores.neo4j.driver.statements import statements
from stores.neo4j.driver.uids import uid_of

__all__ = ["bury_entities", "count_forms", "display"]


def count_forms(tx: Transaction, effects: Effects, ends: Iterable[str]) -> list[str]:
    """Apply the counted forms, before mentions and facts are written; `ends` are the entities of new facts.

    Returns those that have lost their last form; `bury_entities` is for them.
    """
    changes: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for (entity, form), change in effects.forms.items():
        if change:
            changes[entity][form] = change
    touched = changes.keys() | effects.names.keys() | set(ends)
    uids = sorted(uid_of(effects.corpus_id, id) for id in touched)
    known = {row["id"]: row for row in rows_of(tx, statements("commits")["entities"], uids)}
    made, changed, dead = [], [], []
    for id in sorted(touched):
        forms = _forms(known.get(id), changes.get(id, {}))
        is_born = bool(forms) and not (id in known and known[id]["forms"])
        if is_born:
            effects.born.add(id)
        row = [
            *(id, list(forms), list(forms.values()), display(forms) if forms else None, effects.names.get(id)),
            effects.unsettled_at if is_born else None,
        ]
        if id not in known:
            made.append(row)
        elif id in changes:
            changed.append(row)
        if id in changes and not forms:
            dead.append(id)
    tx.run_batches(statements("commits")["create_entities"], made, corpus_id=effects.corpus_id)
    tx.run_batches(statements("commits")["update_entities"], changed, corpus_id=effects.corpus_id)
    return dead


def _forms(known: Row | None, changes: Mapping[str, int]) -> dict[str, int]:
    before = dict(zip(known["forms"], known["counts"], strict=True)) if known else {}
    counts = {form: before.get(form, 0) + changes.get(form, 0) for form in (*before, *changes)}
    return {form: count for form, count in sorted(counts.items()) if count > 0}


def display(forms: Mapping[str, int]) -> str:
    """The most frequent form, ties by code point."""
    return min(forms, key=lambda form: (-forms[form], form))


def bury_entities(tx: Transaction, effects: Effects, dead: Sequence[str]) -> None:
    """Remove entities without a form with their synonyms; those that a fact still names stay, unseen, until it goes."""
    tx.run_batches(statements("commits")["drop_synonyms"], sorted(uid_of(effects.corpus_id, id) for id in dead))
    candidates = sorted(uid_of(effects.corpus_id, id) for id in {*dead, *effects.ends})
    tx.run_batches(statements("commits")["drop_entities"], candidates)
