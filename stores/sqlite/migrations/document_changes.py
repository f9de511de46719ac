"""Schema 14 to 15: changes of documents are logged, so that the documents of a filter can be kept up to date."""

__all__ = ["DOCUMENT_CHANGES"]

DOCUMENT_CHANGES = (
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
