"""What a commit writes: the rows that were made ready become rows of the record, by statements of SQLite alone."""

from stores.sqlite.commit.ready import CHUNK_COLUMNS, SHOWN
from stores.sqlite.database import Connection

__all__ = ["insert_chunks", "insert_graph", "select_new_entities", "update_chunks"]

_CHUNK_COLUMNS = ", ".join(CHUNK_COLUMNS)
_ENTITY_OF = "entity_rows e ON e.corpus = ?1 AND e.id = m.entity"
_CHUNK_OF = "chunk_rows c ON c.corpus = ?1 AND c.id ="

# Of two tables that are joined by CROSS JOIN, SQLite reads the first one in its order.


def insert_chunks(cx: Connection, corpus: int) -> None:
    """Writes the chunks that are new or changed into the corpus with this number."""
    cx.execute(
        f"""
        INSERT OR REPLACE INTO chunk_rows (corpus, {_CHUNK_COLUMNS})
        SELECT ?1, {_CHUNK_COLUMNS} FROM temp.ready_chunks WHERE NOT is_kept ORDER BY rowid
        """,
        (corpus,),
    )


def update_chunks(cx: Connection, corpus: int) -> None:
    """Writes where the kept chunks stand now."""
    cx.execute(
        f"""
        UPDATE chunk_rows SET {", ".join(f"{column} = r.{column}" for column in SHOWN)}
        FROM temp.ready_chunks r WHERE r.is_kept AND chunk_rows.corpus = ?1 AND chunk_rows.id = r.id
        """,
        (corpus,),
    )


def select_new_entities(cx: Connection, corpus: int) -> list[str]:
    """Returns the ids of the mentioned entities that do not exist yet, ascending."""
    rows = cx.execute(
        f"""
        SELECT DISTINCT lower(hex(m.entity)) AS id FROM temp.ready_mentions m LEFT JOIN {_ENTITY_OF}
        WHERE e.id IS NULL ORDER BY id
        """,
        (corpus,),
    )
    return [row["id"] for row in rows]


def insert_graph(cx: Connection, corpus: int) -> None:
    """Writes the mentioned entities, the counts of their forms, and the mentions and facts of the written chunks."""
    cx.execute(
        """
        INSERT INTO entity_rows (corpus, id, name) SELECT ?1, entity, name FROM temp.ready_mentions WHERE true
        ON CONFLICT DO NOTHING
        """,
        (corpus,),
    )
    cx.execute(
        f"""
        INSERT INTO form_rows (entity, form, count)
        SELECT e.number, m.form, sum(m.count) FROM temp.ready_mentions m CROSS JOIN {_ENTITY_OF}
        WHERE true GROUP BY m.entity, m.form ORDER BY min(m.rowid)
        ON CONFLICT DO UPDATE SET count = count + excluded.count
        """,
        (corpus,),
    )
    cx.execute(
        f"""
        INSERT OR REPLACE INTO mention_rows
        SELECT c.number, f.number, m.count FROM temp.ready_mentions m
        CROSS JOIN {_CHUNK_OF} m.chunk CROSS JOIN {_ENTITY_OF}
        CROSS JOIN form_rows f ON f.entity = e.number AND f.form = m.form ORDER BY m.rowid
        """,
        (corpus,),
    )
    cx.execute(
        f"""
        INSERT OR REPLACE INTO fact_rows
        SELECT c.number, r.triple, r.subject, r.object, r.predicate FROM temp.ready_facts r
        CROSS JOIN {_CHUNK_OF} r.chunk ORDER BY r.rowid
        """,
        (corpus,),
    )
