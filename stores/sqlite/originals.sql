-- Small originals, in a database file of their own. A file for each would take a block of the disk, which is 4 KB.

CREATE TABLE IF NOT EXISTS corpora (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id     TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE IF NOT EXISTS originals (
    place   INTEGER PRIMARY KEY,            -- what is new is appended
    corpus  INTEGER NOT NULL,
    name    BLOB NOT NULL,                  -- the 32 bytes of the content's hash
    deflate INTEGER NOT NULL,               -- whether the content is compressed
    content BLOB NOT NULL,
    UNIQUE (corpus, name)
) STRICT;
