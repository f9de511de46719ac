"""Whether a row says what its ids say: ids are digests of content, so a row that was changed gives itself away."""

import base64
import binascii
from typing import Any

import numpy as np

from app.archive.format.rows import DocumentRow, EntityRow, FactRow, SynonymRow, VectorRow
from core import ids
from core.documents import check_key
from core.errors import InvalidInput, LoadFailed
from core.ports.embedding import Vectors
from indexer import fingerprint_of

__all__ = ["check_content", "decoded", "vector_of"]


def check_content(row: Any, dimension: int) -> None:
    """Raises `LoadFailed` where the row contradicts itself. A chunk's id needs its document, and is checked there."""
    match row:
        case DocumentRow():
            _check_document(row)
        case EntityRow():
            _same("entity", row.id, ids.entity_id(row.name))
        case FactRow():
            _same("fact's triple", row.triple_id, ids.triple_id(row.subject_id, row.predicate, row.object_id))
            _same("fact", row.id, ids.assertion_id(row.triple_id, row.chunk_id))
        case SynonymRow() if row.first_id >= row.second_id:
            raise LoadFailed("this synonym's two entities are not in order")
        case VectorRow():
            vector_of(row, dimension)


def vector_of(row: VectorRow, dimension: int) -> Vectors:
    """Raises `LoadFailed` where the row holds no vector of this dimension."""
    raw = decoded(row.data)
    if len(raw) != 4 * dimension:
        raise LoadFailed(f"this vector has {len(raw)} bytes; one of {dimension} dimensions has {4 * dimension}")
    vector = np.frombuffer(raw, dtype="<f4")
    if not np.isfinite(vector).all():
        raise LoadFailed("this vector holds a value that is no number")
    return vector


def decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise LoadFailed(f"`data` is no base64 ({error})") from error


def _check_document(row: DocumentRow) -> None:
    try:
        check_key(row.key)
        fingerprint = fingerprint_of(
            key=row.key,
            media_type=row.media_type,
            title=row.given_title,
            metadata=row.metadata,
            content_hash=row.content_hash,
        )
    except InvalidInput as error:
        raise LoadFailed(str(error)) from error
    _same("document", row.id, ids.document_id(row.key))
    _same("document's fingerprint", row.fingerprint, fingerprint)


def _same(what: str, there: str, computed: str) -> None:
    if there != computed:
        raise LoadFailed(f"this {what} has an id that does not belong to its content")
