-- The record. Times are seconds since 1970 by the store's clock; ids are the hexadecimal digests of core.ids, in the
-- tables with the most rows as 16 bytes. Views give these tables hexadecimal ids. Statements that look for an id ask for
-- its bytes, `raw_id`: the indexes have these.

CREATE TABLE corpora (
    id            TEXT PRIMARY KEY,
    name          TEXT UNIQUE,              -- NULL once dropped (the name is free at once), or while it is built
    settings      TEXT NOT NULL,            -- JSON of core.corpora.CorpusSettings
    generation    INTEGER NOT NULL DEFAULT 0,
    changes_floor INTEGER NOT NULL DEFAULT 0,  -- changes up to this generation are no longer kept
    created_at    REAL NOT NULL,
    drop_job      TEXT,
    beside        TEXT,                     -- the corpus whose place this one takes when it is whole
    reindex_job   TEXT                      -- the job that builds it
) STRICT;
CREATE UNIQUE INDEX corpora_by_beside ON corpora (beside);

-- Corpora, documents, chunks, entities and forms have numbers, by which rows name them: an id would take ten times the
-- space in each row and each index. A number is never given twice.
CREATE TABLE corpus_numbers (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id     TEXT NOT NULL UNIQUE
) STRICT;

-- The sums over the documents that readers see, and the number of entities. Triggers keep them: counting the rows of a
-- million passages takes twenty seconds.
CREATE TABLE corpus_counts (
    corpus    INTEGER PRIMARY KEY,          -- of corpus_numbers
    documents INTEGER NOT NULL DEFAULT 0,
    chunks    INTEGER NOT NULL DEFAULT 0,
    facts     INTEGER NOT NULL DEFAULT 0,
    mentions  INTEGER NOT NULL DEFAULT 0,
    entities  INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TRIGGER corpora_counted AFTER INSERT ON corpus_numbers BEGIN
    INSERT INTO corpus_counts (corpus) VALUES (NEW.number);
END;
CREATE TRIGGER corpora_uncounted AFTER DELETE ON corpus_numbers BEGIN
    DELETE FROM corpus_counts WHERE corpus = OLD.number;
END;

CREATE TABLE document_rows (
    number    INTEGER PRIMARY KEY AUTOINCREMENT,
    corpus    INTEGER NOT NULL,             -- of corpus_numbers
    id        BLOB NOT NULL,
    key       TEXT NOT NULL,
    title     TEXT NOT NULL,
    metadata  TEXT NOT NULL,
    newest    INTEGER NOT NULL,             -- number of the newest revision
    current   INTEGER,                      -- number of the revision that readers see, if any
    hidden    INTEGER NOT NULL DEFAULT 0,   -- a deletion was asked for
    chunks    INTEGER NOT NULL DEFAULT 0,
    malformed INTEGER NOT NULL DEFAULT 0,
    disabled  INTEGER NOT NULL DEFAULT 0,   -- kept, and invisible to searches
    facts     INTEGER NOT NULL DEFAULT 0,   -- of its chunks
    mentions  INTEGER NOT NULL DEFAULT 0,   -- likewise
    access    TEXT                          -- JSON of core.principals.DocumentAccess; NULL: everyone
) STRICT;
CREATE UNIQUE INDEX documents_by_id ON document_rows (corpus, id);
CREATE UNIQUE INDEX documents_by_key ON document_rows (corpus, key);
CREATE INDEX documents_disabled ON document_rows (corpus) WHERE disabled = 1;
CREATE INDEX documents_dated ON document_rows (corpus)
    WHERE instr(metadata, '"valid_') + instr(metadata, '"supersede') + instr(metadata, '"amend') > 0;
CREATE INDEX documents_hidden ON document_rows (corpus) WHERE hidden = 1;
CREATE TRIGGER documents_counted AFTER UPDATE OF current, hidden, chunks, facts, mentions ON document_rows BEGIN
    UPDATE corpus_counts SET (documents, chunks, facts, mentions) = (
        SELECT documents + n.seen - o.seen, chunks + n.seen * NEW.chunks - o.seen * OLD.chunks,
            facts + n.seen * NEW.facts - o.seen * OLD.facts,
            mentions + n.seen * NEW.mentions - o.seen * OLD.mentions
        FROM (SELECT NEW.hidden = 0 AND NEW.current IS NOT NULL AS seen) n,
            (SELECT OLD.hidden = 0 AND OLD.current IS NOT NULL AS seen) o
    ) WHERE corpus = NEW.corpus;
END;
CREATE TRIGGER documents_uncounted AFTER DELETE ON document_rows
WHEN OLD.hidden = 0 AND OLD.current IS NOT NULL BEGIN
    UPDATE corpus_counts SET documents = documents - 1, chunks = chunks - OLD.chunks, facts = facts - OLD.facts,
        mentions = mentions - OLD.mentions
    WHERE corpus = OLD.corpus;
END;

-- Documents that began to be visible or ceased to be, and those of which a filter may see something new, for an hour.
CREATE TABLE document_changes (
    version INTEGER PRIMARY KEY AUTOINCREMENT,
    corpus  INTEGER NOT NULL,
    id      BLOB NOT NULL,
    at      REAL NOT NULL
) STRICT;
CREATE TRIGGER documents_changed AFTER UPDATE OF key, title, metadata, current, hidden, disabled, access
ON document_rows
WHEN (NEW.hidden = 0 AND NEW.current IS NOT NULL OR OLD.hidden = 0 AND OLD.current IS NOT NULL)
AND ((OLD.key, OLD.title, OLD.metadata, OLD.hidden, OLD.disabled, OLD.current IS NULL)
    <> (NEW.key, NEW.title, NEW.metadata, NEW.hidden, NEW.disabled, NEW.current IS NULL)
    OR OLD.access IS NOT NEW.access) BEGIN
    INSERT INTO document_changes (corpus, id, at) VALUES (NEW.corpus, NEW.id, unixepoch());
END;
CREATE VIEW documents AS
    SELECT k.id AS corpus_id, lower(hex(d.id)) AS id, d.key, d.title, d.metadata, d.newest, d.current, d.hidden,
        d.chunks, d.malformed, d.disabled, d.access, d.number, d.corpus, d.id AS raw_id
    FROM corpus_numbers k JOIN document_rows d ON d.corpus = k.number;

CREATE TABLE revision_rows (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    corpus       INTEGER NOT NULL,
    document     INTEGER NOT NULL,          -- of document_rows
    number       INTEGER NOT NULL,
    deletion     INTEGER NOT NULL,
    state        TEXT NOT NULL,
    reason       TEXT,
    fingerprint  ANY NOT NULL,              -- as pack_hash
    content_hash ANY NOT NULL,              -- as pack_hash
    media_type   ANY NOT NULL,              -- as pack_media_type
    size         INTEGER NOT NULL,
    title        TEXT,
    metadata     TEXT NOT NULL,
    job          INTEGER NOT NULL,          -- seq of jobs
    owner        TEXT,
    lease_until  REAL NOT NULL DEFAULT 0,
    epoch        INTEGER NOT NULL DEFAULT 0,
    attempts     INTEGER NOT NULL DEFAULT 0,
    updated_at   REAL NOT NULL,
    access       TEXT                       -- the access that the document gets with it; NULL: the document keeps its
) STRICT;
CREATE UNIQUE INDEX revisions_by_document ON revision_rows (document, number);
CREATE INDEX revisions_unfinished ON revision_rows (corpus, seq)
    WHERE state IN ('queued', 'loading', 'extracting', 'writing', 'deleting');
CREATE INDEX revisions_halted ON revision_rows (corpus) WHERE state IN ('paused', 'failed', 'cancelled');
CREATE INDEX revisions_by_job ON revision_rows (job);
CREATE INDEX revisions_by_content ON revision_rows (substr(content_hash, 1, 4));  -- who finds some compares them whole
CREATE VIEW revisions AS
    SELECT r.seq, (SELECT k.id FROM corpus_numbers k WHERE k.number = r.corpus) AS corpus_id,
        (SELECT lower(hex(d.id)) FROM document_rows d WHERE d.number = r.document) AS document_id, r.number, r.deletion,
        r.state, r.reason, unpack_hash(r.fingerprint) AS fingerprint, unpack_hash(r.content_hash) AS content_hash,
        unpack_media_type(r.media_type) AS media_type, r.size, r.title, r.metadata,
        (SELECT j.id FROM jobs j WHERE j.seq = r.job) AS job_id, r.owner, r.lease_until, r.epoch, r.attempts,
        r.updated_at, r.access, r.corpus, r.document, r.job
    FROM revision_rows r;

CREATE TABLE chunk_rows (
    number       INTEGER PRIMARY KEY AUTOINCREMENT,
    corpus       INTEGER NOT NULL,
    id           BLOB NOT NULL,
    document     INTEGER NOT NULL,
    view_id      BLOB NOT NULL,
    position     INTEGER NOT NULL,
    title_names  BLOB NOT NULL,             -- as pack_ids
    terms        BLOB NOT NULL,             -- as pack_terms; before the text, so that snapshots need not read it
    text         ANY NOT NULL,              -- as pack_text
    heading      TEXT NOT NULL,
    page         INTEGER,
    span_start   INTEGER,
    span_end     INTEGER,
    extract_hash ANY NOT NULL,              -- as pack_hash
    tokens       INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX chunks_by_id ON chunk_rows (corpus, id);
CREATE INDEX chunks_by_document ON chunk_rows (document, position);
CREATE UNIQUE INDEX chunks_by_view ON chunk_rows (corpus, view_id);
CREATE VIEW chunks AS
    SELECT k.id AS corpus_id, lower(hex(c.id)) AS id,
        (SELECT lower(hex(d.id)) FROM document_rows d WHERE d.number = c.document) AS document_id,
        lower(hex(c.view_id)) AS view_id, c.position, unpack_ids(c.title_names) AS title_names,
        unpack_terms(c.terms) AS terms, unpack_text(c.text) AS text, c.heading, c.page, c.span_start, c.span_end,
        unpack_hash(c.extract_hash) AS extract_hash, c.tokens, c.number, c.corpus, c.document, c.id AS raw_id,
        c.view_id AS raw_view_id
    FROM corpus_numbers k JOIN chunk_rows c ON c.corpus = k.number;

CREATE TABLE entity_rows (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    corpus INTEGER NOT NULL,
    id     BLOB NOT NULL,
    name   TEXT NOT NULL                    -- normalised
) STRICT;
CREATE UNIQUE INDEX entities_by_id ON entity_rows (corpus, id);
CREATE TRIGGER entities_counted AFTER INSERT ON entity_rows BEGIN
    UPDATE corpus_counts SET entities = entities + 1 WHERE corpus = NEW.corpus;
END;
CREATE TRIGGER entities_uncounted AFTER DELETE ON entity_rows BEGIN
    UPDATE corpus_counts SET entities = entities - 1 WHERE corpus = OLD.corpus;
END;
CREATE VIEW entities AS
    SELECT k.id AS corpus_id, lower(hex(e.id)) AS id, e.name, e.number, e.corpus, e.id AS raw_id
    FROM corpus_numbers k JOIN entity_rows e ON e.corpus = k.number;

-- Entities that came while another worker committed, until their synonyms have been looked for once more.
CREATE TABLE unsettled (
    corpus_id TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    due_at    REAL NOT NULL,
    PRIMARY KEY (corpus_id, entity_id)
) STRICT, WITHOUT ROWID;

-- How often each spelling of an entity survives: the most frequent is its display name, none left ends the entity.
CREATE TABLE form_rows (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    entity INTEGER NOT NULL,
    form   TEXT NOT NULL,
    count  INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX forms_by_entity ON form_rows (entity, form);
CREATE VIEW forms AS
    SELECT e.corpus_id, e.id AS entity_id, f.form, f.count, f.number, f.entity
    FROM entities e JOIN form_rows f ON f.entity = e.number;

CREATE TABLE mention_rows (
    chunk INTEGER NOT NULL,
    form  INTEGER NOT NULL,                 -- which is that of an entity
    count INTEGER NOT NULL,
    PRIMARY KEY (chunk, form)
) STRICT, WITHOUT ROWID;
CREATE INDEX mentions_by_form ON mention_rows (form);
CREATE VIEW mentions AS
    SELECT c.corpus_id, c.id AS chunk_id, lower(hex(e.id)) AS entity_id, f.form, m.count, m.chunk,
        c.raw_id AS raw_chunk_id, e.id AS raw_entity_id
    FROM chunks c JOIN mention_rows m ON m.chunk = c.number JOIN form_rows f ON f.number = m.form
    JOIN entity_rows e ON e.number = f.entity;

CREATE TABLE fact_rows (
    chunk     INTEGER NOT NULL,
    triple    BLOB NOT NULL,                -- the 16 bytes of the id
    subject   BLOB NOT NULL,                -- the ids of entities, as bytes
    object    BLOB NOT NULL,
    predicate TEXT NOT NULL,
    PRIMARY KEY (chunk, triple)
) STRICT, WITHOUT ROWID;
CREATE INDEX facts_by_triple ON fact_rows (triple);
CREATE VIEW facts AS
    SELECT c.corpus_id, assertion_id(lower(hex(f.triple)), c.id) AS id, lower(hex(f.triple)) AS triple_id,
        c.id AS chunk_id, lower(hex(f.subject)) AS subject_id, f.predicate, lower(hex(f.object)) AS object_id, f.triple,
        f.subject, f.object, f.chunk, c.raw_id AS raw_chunk_id
    FROM chunks c JOIN fact_rows f ON f.chunk = c.number;

CREATE TABLE synonyms (
    corpus_id TEXT NOT NULL,
    first_id  TEXT NOT NULL,
    second_id TEXT NOT NULL,
    score     REAL NOT NULL,
    PRIMARY KEY (corpus_id, first_id, second_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX synonyms_by_second ON synonyms (corpus_id, second_id);

-- Entities that users merged into others, by id and normalised name. They need not be in `entities`.
CREATE TABLE merges (
    corpus_id TEXT NOT NULL,
    from_id   TEXT NOT NULL,
    from_name TEXT NOT NULL,
    into_id   TEXT NOT NULL,
    into_name TEXT NOT NULL,
    merged_at REAL NOT NULL,
    PRIMARY KEY (corpus_id, from_id)
) STRICT, WITHOUT ROWID;

-- The merges that were made of proposals above the threshold of the corpus.
CREATE TABLE automatic_merges (
    corpus_id TEXT NOT NULL,
    from_id   TEXT NOT NULL,
    PRIMARY KEY (corpus_id, from_id)
) STRICT, WITHOUT ROWID;

-- Pairs of entities that users keep apart. They need not be in `entities`.
CREATE TABLE rejections (
    corpus_id   TEXT NOT NULL,
    first_id    TEXT NOT NULL,
    second_id   TEXT NOT NULL,
    rejected_at REAL NOT NULL,
    PRIMARY KEY (corpus_id, first_id, second_id)
) STRICT, WITHOUT ROWID;

-- The probability from which proposals of entities that may be one are merged; a corpus without a row merges none.
CREATE TABLE thresholds (
    corpus_id TEXT PRIMARY KEY,
    threshold REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- The schema of a corpus' graph, as the text of its schema.toml; a corpus without a row has none.
CREATE TABLE graph_schemas (
    corpus_id TEXT PRIMARY KEY,
    text      TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE extraction_rows (
    document     INTEGER NOT NULL,
    extract_hash ANY NOT NULL,              -- as pack_hash
    payload      BLOB NOT NULL,             -- JSON of core.graph.Extraction, as pack_extraction
    PRIMARY KEY (document, extract_hash)
) STRICT, WITHOUT ROWID;
CREATE VIEW extractions AS
    SELECT d.corpus_id, d.id AS document_id, unpack_hash(x.extract_hash) AS extract_hash,
        unpack_extraction(x.payload) AS payload, x.document, x.extract_hash AS raw_hash
    FROM documents d JOIN extraction_rows x ON x.document = d.number;

-- The chunks, and the entities with their synonyms, that were written or deleted at a generation.
CREATE TABLE change_rows (
    corpus     INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    synonyms   INTEGER NOT NULL,            -- of the entity `id`; 0: the chunk `id`
    id         BLOB NOT NULL,
    PRIMARY KEY (corpus, generation, synonyms, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE change_times (
    corpus     INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    at         REAL NOT NULL,
    PRIMARY KEY (corpus, generation)
) STRICT, WITHOUT ROWID;

CREATE TABLE tombstones (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    corpus_id TEXT NOT NULL,
    due_at    REAL NOT NULL,
    documents TEXT NOT NULL,                -- JSON list of ids
    payload   TEXT NOT NULL                 -- JSON of core.ports.record.Tombstone's ids
) STRICT;
CREATE INDEX tombstones_by_corpus ON tombstones (corpus_id, due_at);

-- What was removed and is not certified yet, and the certificates of what was removed. Both outlive their corpus.
CREATE TABLE removals (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    corpus_id TEXT NOT NULL,
    content   TEXT NOT NULL                 -- JSON of core.ports.record.Removal
) STRICT;
CREATE INDEX removals_by_corpus ON removals (corpus_id);
CREATE TABLE certificates (
    chain     TEXT NOT NULL,
    number    INTEGER NOT NULL,             -- from 1
    corpus_id TEXT NOT NULL,                -- a reindexed corpus takes over the chain
    corpus    TEXT NOT NULL,                -- the name that the corpus had
    line      TEXT NOT NULL,                -- as core.record_policy.certificates.sign makes it
    PRIMARY KEY (chain, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX certificates_by_corpus ON certificates (corpus_id);
CREATE INDEX certificates_by_name ON certificates (corpus);

CREATE TABLE jobs (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    corpus_id   TEXT NOT NULL,
    corpus_name TEXT NOT NULL,
    kind        TEXT NOT NULL,
    open        INTEGER NOT NULL,           -- more revisions may be added
    cancelled   INTEGER NOT NULL DEFAULT 0,
    malformed   INTEGER NOT NULL DEFAULT 0,
    created_at  REAL NOT NULL,
    touched_at  REAL NOT NULL,              -- when revisions were last added
    started_at  REAL,
    finished_at REAL,
    token_budget      INTEGER,              -- tokens of models that it may use up in all; NULL: any number
    token_grant       INTEGER,              -- what the last resumption, or the beginning, gave it of them
    calls             INTEGER NOT NULL DEFAULT 0,
    prompt_tokens     INTEGER NOT NULL DEFAULT 0,
    completion_tokens INTEGER NOT NULL DEFAULT 0,
    submitted_by      TEXT                  -- the id of the key whose holder made it; NULL without a key of the record
) STRICT;

-- What was answered to requests that must not be carried out twice; NULL while one is carried out.
CREATE TABLE receipts (
    key     TEXT PRIMARY KEY,
    request TEXT NOT NULL,
    answer  TEXT,
    at      REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX receipts_by_time ON receipts (at);

-- Revisions of a job by state, kept when the revisions' rows go.
CREATE TABLE job_counts (
    job_id TEXT NOT NULL,
    state  TEXT NOT NULL,
    n      INTEGER NOT NULL,
    PRIMARY KEY (job_id, state)
) STRICT, WITHOUT ROWID;

-- The bytes of the revisions of a job, in all and of those that are final, and the passages that it has indexed.
CREATE TABLE job_progress (
    job_id     TEXT PRIMARY KEY,
    bytes      INTEGER NOT NULL,
    bytes_done INTEGER NOT NULL,
    passages   INTEGER NOT NULL,
    at         REAL NOT NULL                -- when the progress changed last
) STRICT, WITHOUT ROWID;

-- The passages of a revision in work, and how many of them are done.
CREATE TABLE revision_progress (
    seq      INTEGER PRIMARY KEY,
    passages INTEGER NOT NULL,
    done     INTEGER NOT NULL
) STRICT;

-- The first failures of a job, kept when a retry or a newer revision replaces the row.
-- Facts that were compared with a schema of the corpus.
CREATE TABLE job_fits (
    job_id  TEXT PRIMARY KEY,
    within  INTEGER NOT NULL,
    outside INTEGER NOT NULL,
    unnamed INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE job_failures (
    job_id TEXT NOT NULL,
    key    TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (job_id, key)
) STRICT, WITHOUT ROWID;

-- Keys of the HTTP server, without their secrets.
CREATE TABLE api_keys (
    id         TEXT PRIMARY KEY,
    content    TEXT NOT NULL,               -- JSON of core.keys.ApiKey
    created_at REAL NOT NULL,
    revoked_at REAL
) STRICT, WITHOUT ROWID;

-- What keys with limits have used in a minute, over all processes. Older minutes are deleted.
CREATE TABLE api_key_usage (
    key_id       TEXT NOT NULL,
    minute       INTEGER NOT NULL,          -- since 1970
    requests     INTEGER NOT NULL,
    tokens       INTEGER NOT NULL,
    ingest_bytes INTEGER NOT NULL,
    PRIMARY KEY (key_id, minute)
) STRICT, WITHOUT ROWID;

-- Questions as users asked them, with their answers. Passages and quotes of the corpus are not stored with them.
CREATE TABLE questions (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    corpus_id    TEXT NOT NULL,
    id           TEXT NOT NULL,
    asked_by     TEXT NOT NULL,             -- the id of the key whose holder asked; '' without a key
    text         TEXT NOT NULL,
    request      TEXT NOT NULL,             -- JSON, to ask again
    state        TEXT NOT NULL,             -- running | done | failed | cancelled
    asked_at     REAL NOT NULL,
    answered_at  REAL,                      -- when it ended
    generation   INTEGER,                   -- of the corpus when it was asked; NULL: the corpus was indexed again
    lease_until  REAL NOT NULL,             -- of the process that answers it
    answer       TEXT,                      -- JSON
    support      TEXT NOT NULL DEFAULT '',
    problem      TEXT,                      -- JSON
    verification TEXT,                      -- JSON
    kept         INTEGER NOT NULL DEFAULT 0,
    again_of     TEXT,
    withdrawn    INTEGER NOT NULL DEFAULT 0,  -- a document that was retrieved was deleted, and the answer with it
    UNIQUE (corpus_id, id)
) STRICT;
CREATE INDEX questions_by_asker ON questions (asked_by, corpus_id, seq);
CREATE INDEX questions_by_id ON questions (id);
CREATE INDEX questions_running ON questions (asked_by) WHERE state = 'running';

CREATE TABLE question_events (
    corpus_id   TEXT NOT NULL,
    question_id TEXT NOT NULL,
    number      INTEGER NOT NULL,           -- from 1
    kind        TEXT NOT NULL,
    data        TEXT NOT NULL,              -- JSON
    PRIMARY KEY (corpus_id, question_id, number)
) STRICT, WITHOUT ROWID;

-- The documents whose passages were retrieved for a question.
CREATE TABLE question_sources (
    corpus_id   TEXT NOT NULL,
    question_id TEXT NOT NULL,
    document_id TEXT NOT NULL,
    fingerprint TEXT NOT NULL,              -- of the revision that was read
    cited       INTEGER NOT NULL,
    PRIMARY KEY (corpus_id, question_id, document_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX question_sources_by_document ON question_sources (corpus_id, document_id);
