"""What a commit writes: the rows that were made ready become rows of the record, by statements of SQLite alone."""

from stores.sqlite.commit.ready import CHUNK_COLUMNS, SHOWN
from stores.sqlite.database import Connection

__all__ = ["insert_chunks", "insert_graph", "select_new_entities", "update_chunks"]

_CHUNK_COLUMNS = ", ".join(CHUNK_COLUMNS)
_ENTITY_OF = "entity_rows e ON e.corpus = ?1 AND e.id = r.entity"

# Of two tables that are joined by CROSS JOIN, SQLite reads the first one in its order.


def insert_chunks(cx: Connection, corpus: int) -> int:
    """Writes the chunks that are new or changed into the corpus with this number.

    Returns what is added to the number of a chunk in its temporary table for its number in the record, so that
    mentions need not look for it.
    """
    given = "(SELECT seq FROM sqlite_sequence WHERE name = 'chunk_rows')"  # the largest number that any row has had
    highest = f"SELECT max(coalesce({given}, 0), coalesce((SELECT max(number) FROM chunk_rows), 0))"
    first = int(cx.execute(highest).fetchone()[0])
    cx.execute(
        f"""
        INSERT OR REPLACE INTO chunk_rows (number, corpus, {_CHUNK_COLUMNS})
        SELECT ?2 + rowid, ?1, {_CHUNK_COLUMNS} FROM temp.ready_chunks WHERE NOT is_kept ORDER BY rowid
        """,
        (corpus, first),
    )
    return first


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
        SELECT DISTINCT lower(hex(r.entity)) AS id FROM temp.ready_forms r LEFT JOIN {_ENTITY_OF}
        WHERE e.id IS NULL ORDER BY id
        """,
        (corpus,),
    )
    return [row["id"] for row in rows]


def insert_graph(cx: Connection, corpus: int, first: int) -> None:
    """Writes the mentioned entities, the counts of their forms, and the mentions and facts of the written chunks.

    `first` is what `insert_chunks` has returned.
    """
    cx.execute(
        """
        INSERT INTO entity_rows (corpus, id, name) SELECT ?1, entity, name FROM temp.ready_forms ORDER BY rowid
        ON CONFLICT DO NOTHING
        """,
        (corpus,),
    )
    cx.execute(
        f"""
        INSERT INTO form_rows (entity, form, count)
        SELECT e.number, r.form, r.count FROM temp.ready_forms r CROSS JOIN {_ENTITY_OF} ORDER BY r.rowid
        ON CONFLICT DO UPDATE SET count = count + excluded.count
        """,
        (corpus,),
    )
    cx.execute(
        """
        UPDATE temp.ready_forms AS r SET stored = (
            SELECT f.number FROM entity_rows e CROSS JOIN form_rows f ON f.entity = e.number AND f.form = r.form
            WHERE e.corpus = ?1 AND e.id = r.entity
        )
        """,
        (corpus,),
    )
    cx.execute(
        """
        INSERT OR REPLACE INTO mention_rows SELECT ?1 + m.chunk, r.stored, m.count FROM temp.ready_mentions m
        CROSS JOIN temp.ready_forms r ON r.rowid = m.form ORDER BY m.rowid
        """,
        (first,),
    )
    cx.execute(
        """
        INSERT OR REPLACE INTO fact_rows
        SELECT ?1 + chunk, triple, subject, object, predicate FROM temp.ready_facts ORDER BY rowid
        """,
        (first,),
    )
