-- Vectors, in a database file of their own: they are a view, and can be derived again from the record.

CREATE TABLE IF NOT EXISTS collections (
    collection INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used twice, so a corpus that is made again is another one
    corpus_id  TEXT NOT NULL,
    kind       TEXT NOT NULL,
    dimension  INTEGER NOT NULL,
    change     INTEGER NOT NULL DEFAULT 0,         -- raised by every transaction that touches the collection
    forgotten  INTEGER NOT NULL DEFAULT 0,         -- the removals up to this change are no longer listed
    UNIQUE (corpus_id, kind)
);

CREATE TABLE IF NOT EXISTS vectors (
    place       INTEGER PRIMARY KEY AUTOINCREMENT, -- ascends with time: what a reader lacks lies beyond what it has
    collection  INTEGER NOT NULL,
    id          TEXT NOT NULL,
    document_id TEXT NOT NULL,
    vector      BLOB NOT NULL,                     -- float32, little endian
    UNIQUE (collection, id)
);
CREATE INDEX IF NOT EXISTS vectors_by_place ON vectors (collection, place);

-- What readers must take out of their snapshots, listed for an hour.
CREATE TABLE IF NOT EXISTS removals (
    collection INTEGER NOT NULL,
    change     INTEGER NOT NULL,
    place      INTEGER NOT NULL,
    at         REAL NOT NULL,
    PRIMARY KEY (collection, change, place)
) WITHOUT ROWID;
