"""Checks rows against their ids. Ids are digests of content, so a changed row is detected."""

import base64
import binascii
from typing import Any

import numpy as np

from app.archive.format.rows import (
    ArchiveDocumentRow,
    ArchiveEntityRow,
    ArchiveFactRow,
    ArchiveMergeRow,
    ArchiveSynonymRow,
    ArchiveVectorRow,
)
from core import ids
from core.documents import check_key, check_media_type
from core.errors import InvalidInput, LoadFailed
from core.ports.embedding import Vectors
from indexer import canonical_json, fingerprint_of

__all__ = ["check_content", "decode_base64", "decode_vector"]

_LENGTH_TOLERANCE = 1e-2
"""Embedders normalize vectors in single precision; stores return them as they were written."""


def check_content(row: Any, dimension: int) -> None:
    """Raises `LoadFailed` if the ids of a row do not belong to its content.

    The id of a chunk depends on its document and is checked with that, in `app.archive.documents`.
    """
    match row:
        case ArchiveDocumentRow():
            _check_document(row)
        case ArchiveEntityRow():
            _check_id("entity", row.id, ids.entity_id(row.name))
        case ArchiveFactRow():
            _check_id("fact's triple", row.triple_id, ids.triple_id(row.subject_id, row.predicate, row.object_id))
            _check_id("fact", row.id, ids.assertion_id(row.triple_id, row.chunk_id))
        case ArchiveMergeRow():
            _check_id("merge's entity", row.from_id, ids.entity_id(row.from_name))
            _check_id("merge's entity", row.into_id, ids.entity_id(row.into_name))
        case ArchiveSynonymRow() if row.first_id >= row.second_id:
            raise LoadFailed("this synonym's two entities are not in order")
        case ArchiveVectorRow():
            decode_vector(row, dimension)


def decode_vector(row: ArchiveVectorRow, dimension: int) -> Vectors:
    """Returns the vector of a row. Raises `LoadFailed` if it is no unit vector of this dimension."""
    raw = decode_base64(row.data)
    if len(raw) != 4 * dimension:
        raise LoadFailed(f"this vector has {len(raw)} bytes; one of {dimension} dimensions has {4 * dimension}")
    vector = np.frombuffer(raw, dtype="<f4")
    if not np.isfinite(vector).all():
        raise LoadFailed("this vector contains a value that is not a finite number")
    length = float(np.linalg.norm(vector.astype(np.float64)))
    if abs(length - 1) > _LENGTH_TOLERANCE:
        raise LoadFailed(f"this vector has length {length:.3g}; vectors of a corpus have length 1")
    return vector


def decode_base64(data: str) -> bytes:
    """Raises `LoadFailed` if `data` is not valid base64."""
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise LoadFailed(f"`data` is not valid base64 ({error})") from error


def _check_document(row: ArchiveDocumentRow) -> None:
    try:
        check_key(row.key)
        check_media_type(row.media_type)
        fingerprint = fingerprint_of(
            key=row.key,
            media_type=row.media_type,
            title=row.given_title,
            metadata=row.sent_metadata,
            content_hash=row.content_hash,
        )
        canonical_json(row.metadata)
    except InvalidInput as error:
        raise LoadFailed(str(error)) from error
    if {**row.metadata, **row.sent_metadata} != row.metadata:
        raise LoadFailed("the metadata of this document are not those of its submission")
    _check_id("document", row.id, ids.document_id(row.key))
    _check_id("document's fingerprint", row.fingerprint, fingerprint)


def _check_id(what: str, there: str, computed: str) -> None:
    if there != computed:
        raise LoadFailed(f"this {what} has an id that does not belong to its content")
