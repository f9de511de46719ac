"""Archive files: corpora with their vectors and originals. Reading them back needs no calls of models."""

from app.archive.lines import encode_row, is_archive
from app.archive.reading import open_stream
from app.archive.restore import RestoreOptions, import_corpus, import_file, restore
from app.archive.restorer import RestoreResult
from app.archive.writing import BackupResult, RowCounts, back_up, encode_section

__all__ = [
    "BackupResult",
    "RestoreOptions",
    "RestoreResult",
    "RowCounts",
    "back_up",
    "encode_row",
    "encode_section",
    "import_corpus",
    "import_file",
    "is_archive",
    "open_stream",
    "restore",
]
