"""Validity: from when to when a document is in force, what it supersedes, and who says so.

`statements` reads what the metadata of one document say. `register` decides over the documents of a corpus which
of them are in force on a day. `sentences` and `written_dates` find statements in texts and names of files.
"""

from core.validity.register import EVERYTHING_IN_FORCE, AsOf, NameFinder, Register, Relation, Validity, parse_as_of
from core.validity.statements import (
    AUTHORITY,
    FIELDS,
    STATEMENTS,
    Statement,
    StatementSource,
    is_dated,
    mark_writer,
    read_authority,
    read_statements,
    without_marks,
)

__all__ = [
    "AUTHORITY",
    "EVERYTHING_IN_FORCE",
    "FIELDS",
    "STATEMENTS",
    "AsOf",
    "NameFinder",
    "Register",
    "Relation",
    "Statement",
    "StatementSource",
    "Validity",
    "is_dated",
    "mark_writer",
    "parse_as_of",
    "read_authority",
    "read_statements",
    "without_marks",
]
