"""The rows of a file that holds corpora, one JSON object a line; `kind` says which.

A corpus is a `corpus` row, then what `core.ports.record.Exporter` gives (not canonical), then its vectors, its
originals in parts, and an `end` row with the number of rows of each kind and the digest of the lines before it. A
backup is a `backup` row, corpora one after another, and a `backup_end` row.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from core.corpora import CorpusSettings, Fine
from core.errors import LoadFailed

__all__ = [
    "FORMAT",
    "ORDER",
    "BackupEndRow",
    "BackupRow",
    "ChunkRow",
    "CorpusRow",
    "DocumentRow",
    "EndRow",
    "EntityRow",
    "ExtractionRow",
    "FactRow",
    "MentionRow",
    "OriginalRow",
    "Row",
    "SynonymRow",
    "VectorRow",
    "parse_row",
]

FORMAT = 1
ORDER = ("document", "chunk", "entity", "mention", "fact", "synonym", "extraction", "vector", "original", "end")

_Id = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
_Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_Number = Annotated[int, Field(ge=0, le=2**53)]


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, allow_inf_nan=False)


class _Settings(_Row):
    chunker: str
    extractor: str
    fine: Fine
    embedding_model: str
    dimension: Annotated[int, Field(ge=1, le=65_536)]
    versions: dict[str, str] = {}


class CorpusRow(_Row):
    kind: Literal["corpus"]
    format: int
    name: str
    settings: _Settings
    generation: _Number

    @property
    def corpus_settings(self) -> CorpusSettings:
        return CorpusSettings(**self.settings.model_dump())


class BackupRow(_Row):
    kind: Literal["backup"]
    format: int
    corpora: list[str]


class BackupEndRow(_Row):
    """The corpora that there are in the file: one may have been dropped while it was written."""

    kind: Literal["backup_end"]
    corpora: list[str]


class DocumentRow(_Row):
    kind: Literal["document"]
    id: _Id
    key: str
    title: str
    given_title: str | None
    media_type: str
    metadata: dict[str, Any]
    content_hash: _Hash
    size: _Number
    fingerprint: str
    chunks: _Number
    malformed_triples: _Number


class ChunkRow(_Row):
    kind: Literal["chunk"]
    id: _Id
    document_id: _Id
    view_id: _Id
    position: _Number
    text: str
    heading: str
    page: _Number | None
    span: tuple[_Number, _Number] | None
    extract_hash: _Id
    tokens: _Number


class EntityRow(_Row):
    kind: Literal["entity"]
    id: _Id
    name: str


class MentionRow(_Row):
    kind: Literal["mention"]
    chunk_id: _Id
    entity_id: _Id
    form: str
    count: _Number


class FactRow(_Row):
    kind: Literal["fact"]
    id: _Id
    triple_id: _Id
    chunk_id: _Id
    subject_id: _Id
    predicate: str
    object_id: _Id


class SynonymRow(_Row):
    kind: Literal["synonym"]
    first_id: _Id
    second_id: _Id
    score: Annotated[float, Field(ge=-1.01, le=1.01)]


class _Payload(_Row):
    entities: list[tuple[str, _Number]]
    triples: list[tuple[str, str, str]]
    malformed: _Number


class ExtractionRow(_Row):
    kind: Literal["extraction"]
    document_id: _Id
    extract_hash: _Id
    payload: _Payload


class VectorRow(_Row):
    """`data` is the base64 of 32-bit floats, little-endian; `document_id` is '' for entities and facts."""

    kind: Literal["vector"]
    of: Literal["chunk", "entity", "fact"]
    id: _Id
    document_id: Annotated[str, Field(pattern=r"^([0-9a-f]{32})?$")]
    data: str


class OriginalRow(_Row):
    """The `part`-th (from 0) of `parts` pieces of a document's bytes, as base64."""

    kind: Literal["original"]
    content_hash: _Hash
    part: _Number
    parts: Annotated[int, Field(ge=1, le=2**20)]
    data: str


class EndRow(_Row):
    kind: Literal["end"]
    counts: dict[str, int]
    sha256: _Hash


Row = Annotated[
    CorpusRow
    | BackupRow
    | BackupEndRow
    | DocumentRow
    | ChunkRow
    | EntityRow
    | MentionRow
    | FactRow
    | SynonymRow
    | ExtractionRow
    | VectorRow
    | OriginalRow
    | EndRow,
    Field(discriminator="kind"),
]
_ROW: TypeAdapter[Any] = TypeAdapter(Row)


def parse_row(line: bytes) -> Any:
    """The row of a line; raises `LoadFailed` saying what is wrong with it, but not where the line is."""
    try:
        return _ROW.validate_json(line)
    except ValidationError as error:
        raise LoadFailed(_reason(error)) from error


def _reason(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    if first["type"].startswith("union_tag") or not (first["loc"] or first["type"] == "json_invalid"):
        return "it is no row of an exported corpus: its `kind` is missing or unknown"
    if first["type"] == "json_invalid":
        return f"it is no JSON ({first['msg'].removeprefix('Invalid JSON: ')})"
    kind, *place = map(str, first["loc"])
    return f"in this {kind} row `{'.'.join(place)}` is wrong: {first['msg'].lower()}" if place else first["msg"]
