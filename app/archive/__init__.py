"""Archive files: corpora with their vectors and originals. Reading them back needs no calls of models."""

from app.archive.backup import BackupResult, back_up
from app.archive.format.lines import encode_row, is_archive
from app.archive.import_corpus import import_corpus, import_file
from app.archive.read_sections import open_stream
from app.archive.restore import RestoreOptions, restore
from app.archive.restorer import RestoreResult
from app.archive.section_encoder import RowCounts, encode_section

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
