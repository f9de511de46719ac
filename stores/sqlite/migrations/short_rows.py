"""The step from schema 13 to 14: documents have numbers, ids are bytes, and extractions are compressed.

The statements are from the `schema.sql` of that version.
"""

STEP = (
    "DROP VIEW facts",
    "DROP VIEW mentions",
    "DROP VIEW forms",
    "DROP VIEW entities",
    "DROP VIEW chunks",
    "ALTER TABLE chunk_rows RENAME TO old_chunks",
    "ALTER TABLE entity_rows RENAME TO old_entities",
    "ALTER TABLE documents RENAME TO old_documents",
    "ALTER TABLE revisions RENAME TO old_revisions",
    "ALTER TABLE extractions RENAME TO old_extractions",
    "ALTER TABLE changes RENAME TO old_changes",
    "DROP INDEX chunks_by_id",
    "DROP INDEX chunks_by_document",
    "DROP INDEX chunks_by_view",
    "DROP INDEX entities_by_id",
    "DROP INDEX documents_by_key",
    "DROP INDEX documents_disabled",
    "DROP INDEX revisions_unfinished",
    "DROP INDEX revisions_by_job",
    "DROP INDEX revisions_by_content",
    "DROP INDEX changes_by_time",
    """
    INSERT INTO corpus_numbers (id)
    SELECT id FROM (
        SELECT corpus_id AS id FROM old_documents UNION SELECT corpus_id FROM old_revisions
        UNION SELECT corpus_id FROM old_changes
    ) WHERE id NOT IN (SELECT id FROM corpus_numbers)
    """,
    """
    CREATE TABLE document_rows (
        number    INTEGER PRIMARY KEY AUTOINCREMENT,
        corpus    INTEGER NOT NULL,
        id        BLOB NOT NULL,
        key       TEXT NOT NULL,
        title     TEXT NOT NULL,
        metadata  TEXT NOT NULL,
        newest    INTEGER NOT NULL,
        current   INTEGER,
        hidden    INTEGER NOT NULL DEFAULT 0,
        chunks    INTEGER NOT NULL DEFAULT 0,
        malformed INTEGER NOT NULL DEFAULT 0,
        disabled  INTEGER NOT NULL DEFAULT 0,
        facts     INTEGER NOT NULL DEFAULT 0,
        mentions  INTEGER NOT NULL DEFAULT 0
    ) STRICT
    """,
    """
    INSERT INTO document_rows (
        corpus, id, key, title, metadata, newest, current, hidden, chunks, malformed, disabled
    )
    SELECT k.number, from_hex(d.id), d.key, d.title, d.metadata, d.newest, d.current, d.hidden, d.chunks, d.malformed,
        d.disabled
    FROM corpus_numbers k JOIN old_documents d ON d.corpus_id = k.id ORDER BY d.newest
    """,
    "CREATE UNIQUE INDEX documents_by_id ON document_rows (corpus, id)",
    "DROP TABLE old_documents",
    """
    CREATE TABLE revision_rows (
        seq          INTEGER PRIMARY KEY AUTOINCREMENT,
        corpus       INTEGER NOT NULL,
        document     INTEGER NOT NULL,
        number       INTEGER NOT NULL,
        deletion     INTEGER NOT NULL,
        state        TEXT NOT NULL,
        reason       TEXT,
        fingerprint  ANY NOT NULL,
        content_hash ANY NOT NULL,
        media_type   ANY NOT NULL,
        size         INTEGER NOT NULL,
        title        TEXT,
        metadata     TEXT NOT NULL,
        job          INTEGER NOT NULL,
        owner        TEXT,
        lease_until  REAL NOT NULL DEFAULT 0,
        epoch        INTEGER NOT NULL DEFAULT 0,
        attempts     INTEGER NOT NULL DEFAULT 0,
        updated_at   REAL NOT NULL
    ) STRICT
    """,
    """
    INSERT INTO revision_rows
    SELECT r.seq, k.number, d.number, r.number, r.deletion, r.state, r.reason, pack_hash(r.fingerprint),
        pack_hash(r.content_hash), pack_media_type(r.media_type), r.size, r.title, r.metadata, j.seq,
        iif(r.state IN ('loading', 'extracting', 'writing', 'deleting'), r.owner, NULL),
        iif(r.state IN ('loading', 'extracting', 'writing', 'deleting'), r.lease_until, 0),
        r.epoch, r.attempts, r.updated_at
    FROM old_revisions r CROSS JOIN corpus_numbers k ON k.id = r.corpus_id
    CROSS JOIN document_rows d ON d.corpus = k.number AND d.id = from_hex(r.document_id)
    CROSS JOIN jobs j ON j.id = r.job_id ORDER BY r.seq
    """,
    "DELETE FROM sqlite_sequence WHERE name = 'revision_rows'",
    "UPDATE sqlite_sequence SET name = 'revision_rows' WHERE name = 'old_revisions'",
    "DROP TABLE old_revisions",
    """
    CREATE TABLE chunk_rows (
        number       INTEGER PRIMARY KEY AUTOINCREMENT,
        corpus       INTEGER NOT NULL,
        id           BLOB NOT NULL,
        document     INTEGER NOT NULL,
        view_id      BLOB NOT NULL,
        position     INTEGER NOT NULL,
        title_names  BLOB NOT NULL,
        terms        BLOB NOT NULL,
        text         ANY NOT NULL,
        heading      TEXT NOT NULL,
        page         INTEGER,
        span_start   INTEGER,
        span_end     INTEGER,
        extract_hash ANY NOT NULL,
        tokens       INTEGER NOT NULL
    ) STRICT
    """,
    """
    INSERT INTO chunk_rows
    SELECT c.number, c.corpus, from_hex(c.id), d.number, from_hex(c.view_id), c.position, pack_ids(c.title_names),
        c.terms, c.text, c.heading, c.page, c.span_start, c.span_end, pack_hash(c.extract_hash), c.tokens
    FROM old_chunks c CROSS JOIN document_rows d ON d.corpus = c.corpus AND d.id = from_hex(c.document_id)
    ORDER BY c.number
    """,
    "DELETE FROM sqlite_sequence WHERE name = 'chunk_rows'",
    "UPDATE sqlite_sequence SET name = 'chunk_rows' WHERE name = 'old_chunks'",
    "DROP TABLE old_chunks",
    """
    CREATE TABLE entity_rows (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        corpus INTEGER NOT NULL,
        id     BLOB NOT NULL,
        name   TEXT NOT NULL
    ) STRICT
    """,
    "INSERT INTO entity_rows SELECT number, corpus, from_hex(id), name FROM old_entities ORDER BY number",
    "DELETE FROM sqlite_sequence WHERE name = 'entity_rows'",
    "UPDATE sqlite_sequence SET name = 'entity_rows' WHERE name = 'old_entities'",
    "DROP TABLE old_entities",
    """
    CREATE TABLE extraction_rows (
        document     INTEGER NOT NULL,
        extract_hash ANY NOT NULL,
        payload      BLOB NOT NULL,
        PRIMARY KEY (document, extract_hash)
    ) STRICT, WITHOUT ROWID
    """,
    """
    INSERT INTO extraction_rows
    SELECT d.number, pack_hash(x.extract_hash), pack_extraction(x.payload)
    FROM old_extractions x CROSS JOIN corpus_numbers k ON k.id = x.corpus_id
    CROSS JOIN document_rows d ON d.corpus = k.number AND d.id = from_hex(x.document_id)
    """,
    "DROP TABLE old_extractions",
    """
    CREATE TABLE change_rows (
        corpus     INTEGER NOT NULL,
        generation INTEGER NOT NULL,
        synonyms   INTEGER NOT NULL,
        id         BLOB NOT NULL,
        PRIMARY KEY (corpus, generation, synonyms, id)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE change_times (
        corpus     INTEGER NOT NULL,
        generation INTEGER NOT NULL,
        at         REAL NOT NULL,
        PRIMARY KEY (corpus, generation)
    ) STRICT, WITHOUT ROWID
    """,
    """
    INSERT INTO change_rows
    SELECT k.number, g.generation, g.kind = 'synonyms', from_hex(g.id)
    FROM old_changes g CROSS JOIN corpus_numbers k ON k.id = g.corpus_id
    """,
    """
    INSERT INTO change_times
    SELECT k.number, g.generation, max(g.at) FROM old_changes g CROSS JOIN corpus_numbers k ON k.id = g.corpus_id
    GROUP BY k.number, g.generation
    """,
    "DROP TABLE old_changes",
    "CREATE UNIQUE INDEX documents_by_key ON document_rows (corpus, key)",
    "CREATE INDEX documents_disabled ON document_rows (corpus) WHERE disabled = 1",
    "CREATE INDEX documents_hidden ON document_rows (corpus) WHERE hidden = 1",
    "CREATE UNIQUE INDEX revisions_by_document ON revision_rows (document, number)",
    """
    CREATE INDEX revisions_unfinished ON revision_rows (corpus, seq)
        WHERE state IN ('queued', 'loading', 'extracting', 'writing', 'deleting')
    """,
    "CREATE INDEX revisions_halted ON revision_rows (corpus) WHERE state IN ('paused', 'failed', 'cancelled')",
    "CREATE INDEX revisions_by_job ON revision_rows (job)",
    "CREATE INDEX revisions_by_content ON revision_rows (substr(content_hash, 1, 4))",
    "CREATE UNIQUE INDEX chunks_by_id ON chunk_rows (corpus, id)",
    "CREATE INDEX chunks_by_document ON chunk_rows (document, position)",
    "CREATE UNIQUE INDEX chunks_by_view ON chunk_rows (corpus, view_id)",
    "CREATE UNIQUE INDEX entities_by_id ON entity_rows (corpus, id)",
    """
    UPDATE document_rows SET
        facts = (
            SELECT count(*) FROM chunk_rows c CROSS JOIN fact_rows f ON f.chunk = c.number
            WHERE c.document = document_rows.number
        ),
        mentions = (
            SELECT coalesce(sum(m.count), 0) FROM chunk_rows c CROSS JOIN mention_rows m ON m.chunk = c.number
            WHERE c.document = document_rows.number
        )
    """,
    """
    CREATE TABLE corpus_counts (
        corpus    INTEGER PRIMARY KEY,
        documents INTEGER NOT NULL DEFAULT 0,
        chunks    INTEGER NOT NULL DEFAULT 0,
        facts     INTEGER NOT NULL DEFAULT 0,
        mentions  INTEGER NOT NULL DEFAULT 0,
        entities  INTEGER NOT NULL DEFAULT 0
    ) STRICT
    """,
    """
    INSERT INTO corpus_counts
    SELECT k.number, count(d.number), coalesce(sum(d.chunks), 0), coalesce(sum(d.facts), 0),
        coalesce(sum(d.mentions), 0), (SELECT count(*) FROM entity_rows e WHERE e.corpus = k.number)
    FROM corpus_numbers k LEFT JOIN document_rows d
        ON d.corpus = k.number AND d.hidden = 0 AND d.current IS NOT NULL
    GROUP BY k.number
    """,
    """
    CREATE TRIGGER corpora_counted AFTER INSERT ON corpus_numbers BEGIN
        INSERT INTO corpus_counts (corpus) VALUES (NEW.number);
    END
    """,
    """
    CREATE TRIGGER corpora_uncounted AFTER DELETE ON corpus_numbers BEGIN
        DELETE FROM corpus_counts WHERE corpus = OLD.number;
    END
    """,
    """
    CREATE TRIGGER documents_counted AFTER UPDATE OF current, hidden, chunks, facts, mentions ON document_rows BEGIN
        UPDATE corpus_counts SET (documents, chunks, facts, mentions) = (
            SELECT documents + n.seen - o.seen, chunks + n.seen * NEW.chunks - o.seen * OLD.chunks,
                facts + n.seen * NEW.facts - o.seen * OLD.facts,
                mentions + n.seen * NEW.mentions - o.seen * OLD.mentions
            FROM (SELECT NEW.hidden = 0 AND NEW.current IS NOT NULL AS seen) n,
                (SELECT OLD.hidden = 0 AND OLD.current IS NOT NULL AS seen) o
        ) WHERE corpus = NEW.corpus;
    END
    """,
    """
    CREATE TRIGGER documents_uncounted AFTER DELETE ON document_rows
    WHEN OLD.hidden = 0 AND OLD.current IS NOT NULL BEGIN
        UPDATE corpus_counts SET documents = documents - 1, chunks = chunks - OLD.chunks, facts = facts - OLD.facts,
            mentions = mentions - OLD.mentions
        WHERE corpus = OLD.corpus;
    END
    """,
    """
    CREATE TRIGGER entities_counted AFTER INSERT ON entity_rows BEGIN
        UPDATE corpus_counts SET entities = entities + 1 WHERE corpus = NEW.corpus;
    END
    """,
    """
    CREATE TRIGGER entities_uncounted AFTER DELETE ON entity_rows BEGIN
        UPDATE corpus_counts SET entities = entities - 1 WHERE corpus = OLD.corpus;
    END
    """,
    """
    CREATE VIEW documents AS
        SELECT k.id AS corpus_id, lower(hex(d.id)) AS id, d.key, d.title, d.metadata, d.newest, d.current, d.hidden,
            d.chunks, d.malformed, d.disabled, d.number, d.corpus, d.id AS raw_id
        FROM corpus_numbers k JOIN document_rows d ON d.corpus = k.number
    """,
    """
    CREATE VIEW revisions AS
        SELECT r.seq, (SELECT k.id FROM corpus_numbers k WHERE k.number = r.corpus) AS corpus_id,
            (SELECT lower(hex(d.id)) FROM document_rows d WHERE d.number = r.document) AS document_id, r.number,
            r.deletion, r.state, r.reason, unpack_hash(r.fingerprint) AS fingerprint,
            unpack_hash(r.content_hash) AS content_hash,
            unpack_media_type(r.media_type) AS media_type, r.size, r.title, r.metadata,
            (SELECT j.id FROM jobs j WHERE j.seq = r.job) AS job_id, r.owner, r.lease_until, r.epoch, r.attempts,
            r.updated_at, r.corpus, r.document, r.job
        FROM revision_rows r
    """,
    """
    CREATE VIEW chunks AS
        SELECT k.id AS corpus_id, lower(hex(c.id)) AS id,
            (SELECT lower(hex(d.id)) FROM document_rows d WHERE d.number = c.document) AS document_id,
            lower(hex(c.view_id)) AS view_id, c.position, unpack_ids(c.title_names) AS title_names,
            unpack_terms(c.terms) AS terms, unpack_text(c.text) AS text, c.heading, c.page, c.span_start, c.span_end,
            unpack_hash(c.extract_hash) AS extract_hash, c.tokens, c.number, c.corpus, c.document, c.id AS raw_id,
            c.view_id AS raw_view_id
        FROM corpus_numbers k JOIN chunk_rows c ON c.corpus = k.number
    """,
    """
    CREATE VIEW entities AS
        SELECT k.id AS corpus_id, lower(hex(e.id)) AS id, e.name, e.number, e.corpus, e.id AS raw_id
        FROM corpus_numbers k JOIN entity_rows e ON e.corpus = k.number
    """,
    """
    CREATE VIEW forms AS
        SELECT e.corpus_id, e.id AS entity_id, f.form, f.count, f.number, f.entity
        FROM entities e JOIN form_rows f ON f.entity = e.number
    """,
    """
    CREATE VIEW mentions AS
        SELECT c.corpus_id, c.id AS chunk_id, lower(hex(e.id)) AS entity_id, f.form, m.count, m.chunk,
            c.raw_id AS raw_chunk_id, e.id AS raw_entity_id
        FROM chunks c JOIN mention_rows m ON m.chunk = c.number JOIN form_rows f ON f.number = m.form
        JOIN entity_rows e ON e.number = f.entity
    """,
    """
    CREATE VIEW facts AS
        SELECT c.corpus_id, assertion_id(lower(hex(f.triple)), c.id) AS id, lower(hex(f.triple)) AS triple_id,
            c.id AS chunk_id, lower(hex(f.subject)) AS subject_id, f.predicate, lower(hex(f.object)) AS object_id,
            f.triple, f.subject, f.object, f.chunk, c.raw_id AS raw_chunk_id
        FROM chunks c JOIN fact_rows f ON f.chunk = c.number
    """,
    """
    CREATE VIEW extractions AS
        SELECT d.corpus_id, d.id AS document_id, unpack_hash(x.extract_hash) AS extract_hash,
            unpack_extraction(x.payload) AS payload, x.document, x.extract_hash AS raw_hash
        FROM documents d JOIN extraction_rows x ON x.document = d.number
    """,
)
