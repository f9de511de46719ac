-- The record. Times are seconds since 1970 by the store's clock; ids are the hexadecimal digests of core.ids.

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

CREATE TABLE documents (
    corpus_id TEXT NOT NULL,
    id        TEXT NOT NULL,
    key       TEXT NOT NULL,
    title     TEXT NOT NULL,
    metadata  TEXT NOT NULL,
    newest    INTEGER NOT NULL,             -- number of the newest revision
    current   INTEGER,                      -- number of the revision that readers see, if any
    hidden    INTEGER NOT NULL DEFAULT 0,   -- a deletion was asked for
    chunks    INTEGER NOT NULL DEFAULT 0,
    malformed INTEGER NOT NULL DEFAULT 0,
    disabled  INTEGER NOT NULL DEFAULT 0,   -- kept, and invisible to searches
    PRIMARY KEY (corpus_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX documents_by_key ON documents (corpus_id, key);
CREATE INDEX documents_disabled ON documents (corpus_id) WHERE disabled = 1;

CREATE TABLE revisions (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    corpus_id    TEXT NOT NULL,
    document_id  TEXT NOT NULL,
    number       INTEGER NOT NULL,
    deletion     INTEGER NOT NULL,
    state        TEXT NOT NULL,
    reason       TEXT,
    fingerprint  TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    media_type   TEXT NOT NULL,
    size         INTEGER NOT NULL,
    title        TEXT,
    metadata     TEXT NOT NULL,
    job_id       TEXT NOT NULL,
    owner        TEXT,
    lease_until  REAL NOT NULL DEFAULT 0,
    epoch        INTEGER NOT NULL DEFAULT 0,
    attempts     INTEGER NOT NULL DEFAULT 0,
    updated_at   REAL NOT NULL,
    UNIQUE (corpus_id, document_id, number)
) STRICT;
CREATE INDEX revisions_unfinished ON revisions (corpus_id, seq)
    WHERE state IN ('queued', 'loading', 'extracting', 'writing', 'deleting');
CREATE INDEX revisions_by_job ON revisions (job_id);
CREATE INDEX revisions_by_content ON revisions (corpus_id, content_hash);

-- Chunks, entities and forms have numbers, by which the rows of mentions and facts name them: an id would take ten times
-- the space in each row and each index. Views give these tables the ids. A number is never given twice.
CREATE TABLE corpus_numbers (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id     TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE chunk_rows (
    number       INTEGER PRIMARY KEY AUTOINCREMENT,
    corpus       INTEGER NOT NULL,          -- of corpus_numbers
    id           TEXT NOT NULL,
    document_id  TEXT NOT NULL,
    view_id      TEXT NOT NULL,
    position     INTEGER NOT NULL,
    title_names  TEXT NOT NULL,             -- ids joined by a space
    terms        BLOB NOT NULL,             -- as pack_terms; before the text, so that snapshots need not read it
    text         ANY NOT NULL,              -- as pack_text
    heading      TEXT NOT NULL,
    page         INTEGER,
    span_start   INTEGER,
    span_end     INTEGER,
    extract_hash TEXT NOT NULL,
    tokens       INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX chunks_by_id ON chunk_rows (corpus, id);
CREATE INDEX chunks_by_document ON chunk_rows (corpus, document_id, position);
CREATE UNIQUE INDEX chunks_by_view ON chunk_rows (corpus, view_id);
CREATE VIEW chunks AS
    SELECT k.id AS corpus_id, c.id, c.document_id, c.view_id, c.position, c.title_names,
        unpack_terms(c.terms) AS terms, unpack_text(c.text) AS text, c.heading, c.page, c.span_start, c.span_end, c.extract_hash, c.tokens, c.number
    FROM corpus_numbers k JOIN chunk_rows c ON c.corpus = k.number;

CREATE TABLE entity_rows (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    corpus INTEGER NOT NULL,
    id     TEXT NOT NULL,
    name   TEXT NOT NULL                    -- normalised
) STRICT;
CREATE UNIQUE INDEX entities_by_id ON entity_rows (corpus, id);
CREATE VIEW entities AS
    SELECT k.id AS corpus_id, e.id, e.name, e.number FROM corpus_numbers k JOIN entity_rows e ON e.corpus = k.number;

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
    SELECT c.corpus_id, c.id AS chunk_id, e.id AS entity_id, f.form, m.count
    FROM chunks c JOIN mention_rows m ON m.chunk = c.number JOIN form_rows f ON f.number = m.form
    JOIN entities e ON e.number = f.entity AND e.corpus_id = c.corpus_id;

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
        c.id AS chunk_id, lower(hex(f.subject)) AS subject_id, f.predicate, lower(hex(f.object)) AS object_id, f.triple
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

CREATE TABLE extractions (
    corpus_id    TEXT NOT NULL,
    document_id  TEXT NOT NULL,
    extract_hash TEXT NOT NULL,
    payload      TEXT NOT NULL,             -- JSON of core.graph.Extraction
    PRIMARY KEY (corpus_id, document_id, extract_hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE changes (
    corpus_id  TEXT NOT NULL,
    generation INTEGER NOT NULL,
    kind       TEXT NOT NULL,               -- chunk | synonyms (of an entity)
    id         TEXT NOT NULL,
    op         TEXT NOT NULL,               -- put | delete
    at         REAL NOT NULL,
    PRIMARY KEY (corpus_id, generation, kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX changes_by_time ON changes (at);

CREATE TABLE tombstones (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    corpus_id TEXT NOT NULL,
    due_at    REAL NOT NULL,
    documents TEXT NOT NULL,                -- JSON list of ids
    payload   TEXT NOT NULL                 -- JSON of core.ports.record.Tombstone's ids
) STRICT;
CREATE INDEX tombstones_by_corpus ON tombstones (corpus_id, due_at);

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
