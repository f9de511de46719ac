"""Migrations of the schema of the record, from one version to the next. A version without a step cannot be read.

The two long steps are modules of their own. `give_back_space` returns the space that a migration left in the file to
the file system.
"""

import logging
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from stores.sqlite.migrations.numbered_rows import STEP as NUMBERED_ROWS
from stores.sqlite.migrations.short_rows import STEP as SHORT_ROWS

_DOCUMENT_CHANGES = (
    """
    CREATE TABLE document_changes (
        version INTEGER PRIMARY KEY AUTOINCREMENT,
        corpus  INTEGER NOT NULL,
        id      BLOB NOT NULL,
        at      REAL NOT NULL
    ) STRICT
    """,
    """
    CREATE TRIGGER documents_changed AFTER UPDATE OF key, title, metadata, current, hidden, disabled ON document_rows
    WHEN (NEW.hidden = 0 AND NEW.current IS NOT NULL OR OLD.hidden = 0 AND OLD.current IS NOT NULL)
    AND (OLD.key, OLD.title, OLD.metadata, OLD.hidden, OLD.disabled, OLD.current IS NULL)
        <> (NEW.key, NEW.title, NEW.metadata, NEW.hidden, NEW.disabled, NEW.current IS NULL) BEGIN
        INSERT INTO document_changes (corpus, id, at) VALUES (NEW.corpus, NEW.id, unixepoch());
    END
    """,
)

_ACCESS = (
    "ALTER TABLE document_rows ADD COLUMN access TEXT",
    "ALTER TABLE revision_rows ADD COLUMN access TEXT",
    "DROP TRIGGER documents_changed",
    """
    CREATE TRIGGER documents_changed AFTER UPDATE OF key, title, metadata, current, hidden, disabled, access
    ON document_rows
    WHEN (NEW.hidden = 0 AND NEW.current IS NOT NULL OR OLD.hidden = 0 AND OLD.current IS NOT NULL)
    AND ((OLD.key, OLD.title, OLD.metadata, OLD.hidden, OLD.disabled, OLD.current IS NULL)
        <> (NEW.key, NEW.title, NEW.metadata, NEW.hidden, NEW.disabled, NEW.current IS NULL)
        OR OLD.access IS NOT NEW.access) BEGIN
        INSERT INTO document_changes (corpus, id, at) VALUES (NEW.corpus, NEW.id, unixepoch());
    END
    """,
    "DROP VIEW documents",
    """
    CREATE VIEW documents AS
        SELECT k.id AS corpus_id, lower(hex(d.id)) AS id, d.key, d.title, d.metadata, d.newest, d.current, d.hidden,
            d.chunks, d.malformed, d.disabled, d.access, d.number, d.corpus, d.id AS raw_id
        FROM corpus_numbers k JOIN document_rows d ON d.corpus = k.number
    """,
    "DROP VIEW revisions",
    """
    CREATE VIEW revisions AS
        SELECT r.seq, (SELECT k.id FROM corpus_numbers k WHERE k.number = r.corpus) AS corpus_id,
            (SELECT lower(hex(d.id)) FROM document_rows d WHERE d.number = r.document) AS document_id, r.number,
            r.deletion, r.state, r.reason, unpack_hash(r.fingerprint) AS fingerprint,
            unpack_hash(r.content_hash) AS content_hash, unpack_media_type(r.media_type) AS media_type, r.size,
            r.title, r.metadata, (SELECT j.id FROM jobs j WHERE j.seq = r.job) AS job_id, r.owner, r.lease_until,
            r.epoch, r.attempts, r.updated_at, r.access, r.corpus, r.document, r.job
        FROM revision_rows r
    """,
)

STEPS: Mapping[int, Sequence[str]] = {
    2: (
        "ALTER TABLE jobs ADD COLUMN token_budget INTEGER",
        "ALTER TABLE jobs ADD COLUMN token_grant INTEGER",
        "ALTER TABLE jobs ADD COLUMN calls INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE jobs ADD COLUMN prompt_tokens INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE jobs ADD COLUMN completion_tokens INTEGER NOT NULL DEFAULT 0",
    ),
    3: (
        "ALTER TABLE corpora ADD COLUMN beside TEXT",
        "ALTER TABLE corpora ADD COLUMN reindex_job TEXT",
        "CREATE UNIQUE INDEX corpora_by_beside ON corpora (beside)",
        """
        CREATE TABLE unsettled (
            corpus_id TEXT NOT NULL,
            entity_id TEXT NOT NULL,
            due_at    REAL NOT NULL,
            PRIMARY KEY (corpus_id, entity_id)
        ) STRICT, WITHOUT ROWID
        """,
    ),
    4: (
        """
        CREATE TABLE IF NOT EXISTS receipts (
            key     TEXT PRIMARY KEY,
            request TEXT NOT NULL,
            answer  TEXT,
            at      REAL NOT NULL
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX IF NOT EXISTS receipts_by_time ON receipts (at)",
    ),
    5: (
        """
        CREATE TABLE IF NOT EXISTS merges (
            corpus_id TEXT NOT NULL,
            from_id   TEXT NOT NULL,
            from_name TEXT NOT NULL,
            into_id   TEXT NOT NULL,
            into_name TEXT NOT NULL,
            merged_at REAL NOT NULL,
            PRIMARY KEY (corpus_id, from_id)
        ) STRICT, WITHOUT ROWID
        """,
    ),
    6: ("ALTER TABLE documents ADD COLUMN disabled INTEGER NOT NULL DEFAULT 0",),
    7: (
        """
        CREATE TABLE IF NOT EXISTS job_progress (
            job_id     TEXT PRIMARY KEY,
            bytes      INTEGER NOT NULL,
            bytes_done INTEGER NOT NULL,
            passages   INTEGER NOT NULL,
            at         REAL NOT NULL
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE IF NOT EXISTS revision_progress (
            seq      INTEGER PRIMARY KEY,
            passages INTEGER NOT NULL,
            done     INTEGER NOT NULL
        ) STRICT
        """,
    ),
    8: ("CREATE INDEX IF NOT EXISTS documents_disabled ON documents (corpus_id) WHERE disabled = 1",),
    9: (
        """
        CREATE TABLE IF NOT EXISTS api_keys (
            id         TEXT PRIMARY KEY,
            content    TEXT NOT NULL,
            created_at REAL NOT NULL,
            revoked_at REAL
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE IF NOT EXISTS api_key_usage (
            key_id       TEXT NOT NULL,
            minute       INTEGER NOT NULL,
            requests     INTEGER NOT NULL,
            tokens       INTEGER NOT NULL,
            ingest_bytes INTEGER NOT NULL,
            PRIMARY KEY (key_id, minute)
        ) STRICT, WITHOUT ROWID
        """,
    ),
    10: ("ALTER TABLE jobs ADD COLUMN submitted_by TEXT",),
    11: (
        """
        CREATE TABLE IF NOT EXISTS questions (
            seq          INTEGER PRIMARY KEY AUTOINCREMENT,
            corpus_id    TEXT NOT NULL,
            id           TEXT NOT NULL,
            asked_by     TEXT NOT NULL,
            text         TEXT NOT NULL,
            request      TEXT NOT NULL,
            state        TEXT NOT NULL,
            asked_at     REAL NOT NULL,
            answered_at  REAL,
            generation   INTEGER,
            lease_until  REAL NOT NULL,
            answer       TEXT,
            support      TEXT NOT NULL DEFAULT '',
            problem      TEXT,
            verification TEXT,
            kept         INTEGER NOT NULL DEFAULT 0,
            again_of     TEXT,
            withdrawn    INTEGER NOT NULL DEFAULT 0,
            UNIQUE (corpus_id, id)
        ) STRICT
        """,
        "CREATE INDEX IF NOT EXISTS questions_by_asker ON questions (asked_by, corpus_id, seq)",
        "CREATE INDEX IF NOT EXISTS questions_by_id ON questions (id)",
        "CREATE INDEX IF NOT EXISTS questions_running ON questions (asked_by) WHERE state = 'running'",
        """
        CREATE TABLE IF NOT EXISTS question_events (
            corpus_id   TEXT NOT NULL,
            question_id TEXT NOT NULL,
            number      INTEGER NOT NULL,
            kind        TEXT NOT NULL,
            data        TEXT NOT NULL,
            PRIMARY KEY (corpus_id, question_id, number)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE IF NOT EXISTS question_sources (
            corpus_id   TEXT NOT NULL,
            question_id TEXT NOT NULL,
            document_id TEXT NOT NULL,
            fingerprint TEXT NOT NULL,
            cited       INTEGER NOT NULL,
            PRIMARY KEY (corpus_id, question_id, document_id)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX IF NOT EXISTS question_sources_by_document ON question_sources (corpus_id, document_id)",
    ),
    12: NUMBERED_ROWS,
    13: SHORT_ROWS,
    14: _DOCUMENT_CHANGES,
    15: (
        """
        CREATE TABLE IF NOT EXISTS automatic_merges (
            corpus_id TEXT NOT NULL,
            from_id   TEXT NOT NULL,
            PRIMARY KEY (corpus_id, from_id)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE IF NOT EXISTS rejections (
            corpus_id   TEXT NOT NULL,
            first_id    TEXT NOT NULL,
            second_id   TEXT NOT NULL,
            rejected_at REAL NOT NULL,
            PRIMARY KEY (corpus_id, first_id, second_id)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE IF NOT EXISTS thresholds (
            corpus_id TEXT PRIMARY KEY,
            threshold REAL NOT NULL
        ) STRICT, WITHOUT ROWID
        """,
    ),
    16: _ACCESS,
    17: (
        """
        CREATE TABLE IF NOT EXISTS removals (
            id        INTEGER PRIMARY KEY AUTOINCREMENT,
            corpus_id TEXT NOT NULL,
            content   TEXT NOT NULL
        ) STRICT
        """,
        "CREATE INDEX IF NOT EXISTS removals_by_corpus ON removals (corpus_id)",
        """
        CREATE TABLE IF NOT EXISTS certificates (
            chain     TEXT NOT NULL,
            number    INTEGER NOT NULL,
            corpus_id TEXT NOT NULL,
            corpus    TEXT NOT NULL,
            line      TEXT NOT NULL,
            PRIMARY KEY (chain, number)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX IF NOT EXISTS certificates_by_corpus ON certificates (corpus_id)",
        "CREATE INDEX IF NOT EXISTS certificates_by_name ON certificates (corpus)",
    ),
    18: (
        """
        CREATE INDEX IF NOT EXISTS documents_dated ON document_rows (corpus)
        WHERE instr(metadata, '"valid_') + instr(metadata, '"supersede') + instr(metadata, '"amend') > 0
        """,
    ),
    19: (
        """
        CREATE TABLE IF NOT EXISTS graph_schemas (
            corpus_id TEXT PRIMARY KEY,
            text      TEXT NOT NULL
        ) STRICT, WITHOUT ROWID
        """,
    ),
    20: (
        """
        CREATE TABLE IF NOT EXISTS job_fits (
            job_id  TEXT PRIMARY KEY,
            within  INTEGER NOT NULL,
            outside INTEGER NOT NULL,
            unnamed INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID
        """,
    ),
}
"""The statements that lead from a version to the next. `schema.sql` is the newest version."""


def steps_from(version: int, to: int) -> list[str] | None:
    """Returns all statements that lead from `version` to `to`; None if a step is missing."""
    if not 0 < version < to or any(one not in STEPS for one in range(version, to)):
        return None
    return [statement for one in range(version, to) for statement in STEPS[one]]


_log = logging.getLogger("hopweave.stores")

_FREE_SHARE = 0.25
_COPIES = 3
"""SQLite writes the rows into a temporary file, then into its log (WAL), and some space must be left over."""


def give_back_space(connection: sqlite3.Connection, path: Path) -> None:
    """Writes the file anew (VACUUM) if more than a quarter of its pages are free, outside of a transaction.

    Without the room for the copies, or while others use the file, it stays as large as it is: its free pages are used
    for later rows. The log says so.
    """
    page_size, pages, free = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_size", "page_count", "freelist_count")
    )
    if free <= _FREE_SHARE * pages:
        return
    needed, room = _COPIES * (pages - free) * page_size, shutil.disk_usage(path.parent).free
    if room < needed:
        _log.warning(
            "%s keeps %s of free pages, which later rows use: to give them back takes %s on the disk, and %s are free; "
            "make room, and run VACUUM on the file with SQLite's tools while nothing uses it",
            *(path.name, _size(free * page_size), _size(needed), _size(room)),
        )
        return
    _log.info("%s is written anew, to give back %s of free pages", path.name, _size(free * page_size))
    try:
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.OperationalError as error:
        _log.warning("%s keeps %s of free pages, which later rows use: %s", path.name, _size(free * page_size), error)


def _size(bytes: int) -> str:
    return f"{bytes / 1e6:,.0f} MB"
