-- Answers of language models, in a database file of their own: losing it costs money and no knowledge.

CREATE TABLE IF NOT EXISTS answers (
    key       TEXT PRIMARY KEY,
    corpus_id TEXT NOT NULL,                       -- '' where an answer is about none
    answer    TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS answers_by_corpus ON answers (corpus_id);

-- The chunks whose text an answer's question held.
CREATE TABLE IF NOT EXISTS answer_chunks (
    corpus_id TEXT NOT NULL,
    chunk_id  TEXT NOT NULL,
    key       TEXT NOT NULL,
    PRIMARY KEY (corpus_id, chunk_id, key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS answer_chunks_by_key ON answer_chunks (key);

-- Up to which generation of the record removed chunks are forgotten.
CREATE TABLE IF NOT EXISTS followed (
    corpus_id  TEXT PRIMARY KEY,
    generation INTEGER NOT NULL
) WITHOUT ROWID;

-- Chunks that went of late: a question that was shown one before may still be answered.
CREATE TABLE IF NOT EXISTS gone (
    corpus_id TEXT NOT NULL,
    chunk_id  TEXT NOT NULL,
    at        REAL NOT NULL,                       -- seconds since 1970
    PRIMARY KEY (corpus_id, chunk_id)
) WITHOUT ROWID;
