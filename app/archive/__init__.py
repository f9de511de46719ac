"""Corpora as files: written with their vectors and originals, read again without asking any model."""

from app.archive.backup import BackedUp, back_up
from app.archive.format.lines import is_archive, json_line
from app.archive.importing import import_file
from app.archive.restore import Chosen, restore
from app.archive.restoring import Restored
from app.archive.writing import Tally, section_lines

__all__ = [
    "BackedUp",
    "Chosen",
    "Restored",
    "Tally",
    "back_up",
    "import_file",
    "is_archive",
    "json_line",
    "restore",
    "section_lines",
]
