"""The response of the import of an exported corpus."""

from api.schemas.base import Out

__all__ = ["ImportedOut"]


class ImportedOut(Out):
    """What was written. `unchanged` documents were there already; `embedded` vectors were not in the body and were made
    again, and `missing_originals` are those that it lacks.
    """

    corpus: str
    documents: int
    unchanged: int
    chunks: int
    embedded: int
    missing_originals: int
    notes: list[str]
