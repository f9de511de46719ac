"""The graph of a commit: entities, their forms, and the mentions and facts that name them by number."""

from collections.abc import Mapping

from stores.sqlite.commit.effects import SqliteCommitEffects
from stores.sqlite.database import Connection
from stores.sqlite.numbers import read_numbers

__all__ = ["insert_graph"]

_Forms = Mapping[tuple[str, str], int]


def insert_graph(cx: Connection, effects: SqliteCommitEffects) -> None:
    """Inserts the mentioned entities, adds the changes of the counts of forms, and inserts mentions and facts."""
    cx.executemany(
        "INSERT INTO entity_rows (corpus, id, name) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        ((effects.corpus, bytes.fromhex(id), name) for id, name in effects.names.items()),
    )
    entities = read_numbers(cx, "entity_rows", effects.corpus, {entity for entity, _ in effects.forms})
    forms = _change_forms(cx, effects, entities)
    chunks = read_numbers(
        cx,
        "chunk_rows",
        effects.corpus,
        {m.chunk_id for m in effects.mentions} | {f.chunk_id for f in effects.facts},
    )
    cx.executemany(
        "INSERT OR REPLACE INTO mention_rows VALUES (?, ?, ?)",
        ((chunks[m.chunk_id], forms[m.entity_id, m.form], m.count) for m in effects.mentions),
    )
    cx.executemany(
        "INSERT OR REPLACE INTO fact_rows VALUES (?, ?, ?, ?, ?)",
        (
            (
                chunks[f.chunk_id],
                bytes.fromhex(f.triple_id),
                bytes.fromhex(f.subject_id),
                bytes.fromhex(f.object_id),
                f.predicate,
            )
            for f in effects.facts
        ),
    )


def _change_forms(cx: Connection, effects: SqliteCommitEffects, entities: Mapping[str, int]) -> _Forms:
    """Returns the numbers of the forms of entities that mentions have."""
    change = """
        INSERT INTO form_rows (entity, form, count) VALUES (?, ?, ?)
        ON CONFLICT DO UPDATE SET count = count + excluded.count RETURNING number
    """
    return {
        key: cx.execute(change, (entities[key[0]], key[1], change_)).fetchone()[0]
        for key, change_ in effects.forms.items()
    }
