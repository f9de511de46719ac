"""The step from schema 12 to 13: mentions and facts name chunks and entities by number.

The statements are from the `schema.sql` of that version. The pages that the old tables leave are used again.
"""

STEP = (
    """
    CREATE TABLE corpus_numbers (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id     TEXT NOT NULL UNIQUE
    ) STRICT
    """,
    """
    CREATE TABLE chunk_rows (
        number       INTEGER PRIMARY KEY AUTOINCREMENT,
        corpus       INTEGER NOT NULL,
        id           TEXT NOT NULL,
        document_id  TEXT NOT NULL,
        view_id      TEXT NOT NULL,
        position     INTEGER NOT NULL,
        title_names  TEXT NOT NULL,
        terms        BLOB NOT NULL,
        text         ANY NOT NULL,
        heading      TEXT NOT NULL,
        page         INTEGER,
        span_start   INTEGER,
        span_end     INTEGER,
        extract_hash TEXT NOT NULL,
        tokens       INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE entity_rows (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        corpus INTEGER NOT NULL,
        id     TEXT NOT NULL,
        name   TEXT NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE form_rows (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        entity INTEGER NOT NULL,
        form   TEXT NOT NULL,
        count  INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE mention_rows (
        chunk INTEGER NOT NULL,
        form  INTEGER NOT NULL,
        count INTEGER NOT NULL,
        PRIMARY KEY (chunk, form)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE fact_rows (
        chunk     INTEGER NOT NULL,
        triple    BLOB NOT NULL,
        subject   BLOB NOT NULL,
        object    BLOB NOT NULL,
        predicate TEXT NOT NULL,
        PRIMARY KEY (chunk, triple)
    ) STRICT, WITHOUT ROWID
    """,
    "INSERT INTO corpus_numbers (id) SELECT corpus_id FROM chunks UNION SELECT corpus_id FROM entities",
    """
    INSERT INTO chunk_rows (
        corpus, id, document_id, view_id, position, title_names, terms, text, heading, page, span_start, span_end,
        extract_hash, tokens
    )
    SELECT k.number, c.id, c.document_id, c.view_id, c.position, c.title_names, pack_terms(c.terms), pack_text(c.text),
        c.heading, c.page, c.span_start, c.span_end, c.extract_hash, c.tokens
    FROM chunks c JOIN corpus_numbers k ON k.id = c.corpus_id ORDER BY c.rowid
    """,
    """
    INSERT INTO entity_rows (corpus, id, name)
    SELECT k.number, e.id, e.name FROM corpus_numbers k JOIN entities e ON e.corpus_id = k.id
    """,
    "CREATE UNIQUE INDEX chunks_by_id ON chunk_rows (corpus, id)",
    "CREATE UNIQUE INDEX entities_by_id ON entity_rows (corpus, id)",
    "CREATE UNIQUE INDEX forms_by_entity ON form_rows (entity, form)",
    """
    INSERT INTO form_rows (entity, form, count)
    SELECT n.number, f.form, f.count FROM forms f JOIN corpus_numbers k ON k.id = f.corpus_id
    JOIN entity_rows n ON n.corpus = k.number AND n.id = f.entity_id
    """,
    """
    INSERT INTO mention_rows
    SELECT c.number, f.number, m.count FROM mentions m JOIN corpus_numbers k ON k.id = m.corpus_id
    JOIN chunk_rows c ON c.corpus = k.number AND c.id = m.chunk_id
    JOIN entity_rows e ON e.corpus = k.number AND e.id = m.entity_id
    JOIN form_rows f ON f.entity = e.number AND f.form = m.form
    """,
    """
    INSERT INTO fact_rows
    SELECT c.number, from_hex(f.triple_id), from_hex(f.subject_id), from_hex(f.object_id), f.predicate
    FROM facts f JOIN corpus_numbers k ON k.id = f.corpus_id
    JOIN chunk_rows c ON c.corpus = k.number AND c.id = f.chunk_id
    """,
    "DROP TABLE chunks",
    "DROP TABLE entities",
    "DROP TABLE forms",
    "DROP TABLE mentions",
    "DROP TABLE facts",
    "CREATE INDEX chunks_by_document ON chunk_rows (corpus, document_id, position)",
    "CREATE UNIQUE INDEX chunks_by_view ON chunk_rows (corpus, view_id)",
    """
    CREATE VIEW chunks AS
        SELECT k.id AS corpus_id, c.id, c.document_id, c.view_id, c.position, c.title_names,
            unpack_terms(c.terms) AS terms, unpack_text(c.text) AS text, c.heading, c.page, c.span_start,
            c.span_end, c.extract_hash, c.tokens, c.number
        FROM corpus_numbers k JOIN chunk_rows c ON c.corpus = k.number
    """,
    """
    CREATE VIEW entities AS
        SELECT k.id AS corpus_id, e.id, e.name, e.number FROM corpus_numbers k JOIN entity_rows e ON e.corpus = k.number
    """,
    """
    CREATE VIEW forms AS
        SELECT e.corpus_id, e.id AS entity_id, f.form, f.count, f.number, f.entity
        FROM entities e JOIN form_rows f ON f.entity = e.number
    """,
    "CREATE INDEX mentions_by_form ON mention_rows (form)",
    """
    CREATE VIEW mentions AS
        SELECT c.corpus_id, c.id AS chunk_id, e.id AS entity_id, f.form, m.count
        FROM chunks c JOIN mention_rows m ON m.chunk = c.number JOIN form_rows f ON f.number = m.form
        JOIN entities e ON e.number = f.entity AND e.corpus_id = c.corpus_id
    """,
    "CREATE INDEX facts_by_triple ON fact_rows (triple)",
    """
    CREATE VIEW facts AS
        SELECT c.corpus_id, assertion_id(lower(hex(f.triple)), c.id) AS id, lower(hex(f.triple)) AS triple_id,
            c.id AS chunk_id, lower(hex(f.subject)) AS subject_id, f.predicate, lower(hex(f.object)) AS object_id,
            f.triple
        FROM chunks c JOIN fact_rows f ON f.chunk = c.number
    """,
)
