"""The rows of an archive file. Each line is one JSON object; `kind` names its type.

A corpus is a `corpus` row, then the rows of `core.ports.record.Exporter` (not canonical), then its vectors, its
originals in parts, and an `end` row with the number of rows of each kind and the digest of the lines before it. A
backup is a `backup` row, any number of corpora, and a `backup_end` row. Stored questions are rows of a backup.
"""

from collections.abc import AsyncGenerator, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from app.container import Container
from core.corpora import Corpus, CorpusSettings, Fine
from core.errors import InvalidInput, LoadFailed
from core.graph_schema import MAX_BYTES, read_graph_schema
from core.questions import AskedQuestion, QuestionSource, QuestionState
from core.record_policy.merges import LEAST_THRESHOLD

FORMAT = 1
ORDER = (
    *("document", "chunk", "entity", "mention", "fact", "merge", "rejection", "threshold", "schema"),
    *("synonym", "extraction", "question", "vector", "original", "end"),
)

_Id = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
_Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_Number = Annotated[int, Field(ge=0, le=2**53)]
_Page = Annotated[int, Field(ge=0, le=1_000_000_000)]  # senders of chunks may count pages from 0


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, allow_inf_nan=False)


class _Settings(_Row):
    chunker: str
    extractor: str
    fine: Fine
    embedding_model: str
    dimension: Annotated[int, Field(ge=0, le=65_536)]
    embedding: str = ""
    versions: dict[str, str] = {}


class ArchiveCorpusRow(_Row):
    kind: Literal["corpus"]
    format: int
    name: str
    settings: _Settings
    generation: _Number

    @property
    def corpus_settings(self) -> CorpusSettings:
        return CorpusSettings(**self.settings.model_dump())


class ArchiveBackupRow(_Row):
    kind: Literal["backup"]
    format: int
    corpora: list[str]


class ArchiveBackupEndRow(_Row):
    """The corpora that are in the file. Corpora of the `backup` row may have been deleted meanwhile."""

    kind: Literal["backup_end"]
    corpora: list[str]


class ArchiveDocumentRow(_Row):
    """A document. Files of releases whose loaders found no metadata have no `given_metadata`.

    Only a document that is not enabled has `enabled`, and only a document that not everyone may see `access`.
    """

    kind: Literal["document"]
    id: _Id
    key: str
    title: str
    given_title: str | None
    media_type: str
    metadata: dict[str, Any]
    given_metadata: dict[str, Any] | None = None
    content_hash: _Hash
    size: _Number
    fingerprint: str
    chunks: _Number
    malformed_triples: _Number
    enabled: bool = True
    access: list[str] | None = None

    @property
    def sent_metadata(self) -> dict[str, Any]:
        """The metadata in its submission."""
        return self.metadata if self.given_metadata is None else self.given_metadata


class ArchiveChunkRow(_Row):
    kind: Literal["chunk"]
    id: _Id
    document_id: _Id
    view_id: _Id
    position: _Number
    text: str
    heading: str
    page: _Page | None
    span: tuple[_Number, _Number] | None
    extract_hash: _Id
    tokens: _Number

    @field_validator("span")
    @classmethod
    def _in_order(cls, span: tuple[int, int] | None) -> tuple[int, int] | None:
        if span is not None and span[1] < span[0]:
            raise ValueError(f"it ends at {span[1]}, before its start at {span[0]}")
        return span


class ArchiveEntityRow(_Row):
    kind: Literal["entity"]
    id: _Id
    name: str


class ArchiveMentionRow(_Row):
    kind: Literal["mention"]
    chunk_id: _Id
    entity_id: _Id
    form: Annotated[str, Field(min_length=1)]
    count: Annotated[_Number, Field(ge=1)]


class ArchiveFactRow(_Row):
    kind: Literal["fact"]
    id: _Id
    triple_id: _Id
    chunk_id: _Id
    subject_id: _Id
    predicate: str
    object_id: _Id


class ArchiveMergeRow(_Row):
    """A merge of an entity into another. Neither need be in the file."""

    kind: Literal["merge"]
    from_id: _Id
    from_name: str
    into_id: _Id
    into_name: str


class ArchiveRejectionRow(_Row):
    """A pair of entities that are two. Neither need be in the file."""

    kind: Literal["rejection"]
    first_id: _Id
    second_id: _Id


class ArchiveThresholdRow(_Row):
    """The probability from which proposals of entities are merged without being asked for."""

    kind: Literal["threshold"]
    merge_above: Annotated[float, Field(ge=LEAST_THRESHOLD, le=1)]


def _check_schema(text: str) -> str:
    try:
        return read_graph_schema(text).text
    except InvalidInput as error:
        raise ValueError(str(error)) from error


class ArchiveSchemaRow(_Row):
    """The schema of the graph, as the text of a `schema.toml`."""

    kind: Literal["schema"]
    text: Annotated[str, Field(max_length=MAX_BYTES), AfterValidator(_check_schema)]


class ArchiveSynonymRow(_Row):
    kind: Literal["synonym"]
    first_id: _Id
    second_id: _Id
    score: Annotated[float, Field(ge=-1.01, le=1.01)]


class _Payload(_Row):
    entities: list[tuple[str, _Number]]
    triples: list[tuple[str, str, str]]
    malformed: _Number


class ArchiveExtractionRow(_Row):
    kind: Literal["extraction"]
    document_id: _Id
    extract_hash: _Id
    payload: _Payload


class ArchiveQuestionSource(_Row):
    document_id: _Id
    fingerprint: str
    cited: bool


class ArchiveQuestionRow(_Row):
    """A stored question that has ended; only backups have any. `outdated`: the corpus had changed since."""

    kind: Literal["question"]
    id: _Id
    asked_by: str
    text: str
    request: dict[str, Any]
    state: Literal["done", "failed", "cancelled"]
    asked_at: float
    answered_at: float | None
    outdated: bool
    answer: dict[str, Any] | None
    support: str
    problem: dict[str, Any] | None
    verification: dict[str, Any] | None
    kept: bool
    again_of: str | None
    withdrawn: bool
    sources: list[ArchiveQuestionSource]


class ArchiveVectorRow(_Row):
    """A vector. `data` is the base64 of 32-bit floats, little-endian; `document_id` is '' for entities and facts."""

    kind: Literal["vector"]
    of: Literal["chunk", "entity", "fact"]
    id: _Id
    document_id: Annotated[str, Field(pattern=r"^([0-9a-f]{32})?$")]
    data: str


class ArchiveOriginalRow(_Row):
    """Part number `part` (from 0) of the `parts` parts of an original, as base64."""

    kind: Literal["original"]
    content_hash: _Hash
    part: _Number
    parts: Annotated[int, Field(ge=1, le=2**20)]
    data: str


class ArchiveEndRow(_Row):
    kind: Literal["end"]
    counts: dict[str, int]
    sha256: _Hash


Row = Annotated[
    ArchiveCorpusRow
    | ArchiveBackupRow
    | ArchiveBackupEndRow
    | ArchiveDocumentRow
    | ArchiveChunkRow
    | ArchiveEntityRow
    | ArchiveMentionRow
    | ArchiveFactRow
    | ArchiveMergeRow
    | ArchiveRejectionRow
    | ArchiveThresholdRow
    | ArchiveSchemaRow
    | ArchiveSynonymRow
    | ArchiveExtractionRow
    | ArchiveQuestionRow
    | ArchiveVectorRow
    | ArchiveOriginalRow
    | ArchiveEndRow,
    Field(discriminator="kind"),
]
_ROW: TypeAdapter[Any] = TypeAdapter(Row)


def parse_row(line: bytes) -> Any:
    """Returns the row of a line. Raises `LoadFailed` with the error, without the number of the line."""
    try:
        return _ROW.validate_json(line)
    except ValidationError as error:
        raise LoadFailed(_describe_error(error)) from error


def _describe_error(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    if first["type"].startswith("union_tag") or not (first["loc"] or first["type"] == "json_invalid"):
        return "it is not a row of an exported corpus: its `kind` is missing or unknown"
    if first["type"] == "json_invalid":
        return f"it is not valid JSON ({first['msg'].removeprefix('Invalid JSON: ')})"
    kind, *place = map(str, first["loc"])
    return f"in this {kind} row `{'.'.join(place)}` is wrong: {first['msg'].lower()}" if place else first["msg"]


StoredQuestion = tuple[AskedQuestion, list[QuestionSource]]


async def read_question_rows(container: Container, corpus: Corpus) -> AsyncGenerator[Mapping[str, object]]:
    """Yields the questions of a corpus that have ended, the oldest first."""
    generation = (await container.record.corpora.get_by_id(corpus.id)).generation
    for question, sources in await container.record.questions.export(corpus.id):
        yield {
            "kind": "question",
            "id": question.id,
            "asked_by": question.asked_by,
            "text": question.text,
            "request": dict(question.request),
            "state": question.state.value,
            "asked_at": question.asked_at.timestamp(),
            "answered_at": question.answered_at and question.answered_at.timestamp(),
            "outdated": question.generation is None or question.generation < generation,
            "answer": question.answer and dict(question.answer),
            "support": question.support,
            "problem": question.problem and dict(question.problem),
            "verification": question.verification and dict(question.verification),
            "kept": question.kept,
            "again_of": question.again_of,
            "withdrawn": question.withdrawn,
            "sources": [vars(one) for one in sources],
        }


def load_question_row(row: ArchiveQuestionRow, corpus_id: str) -> StoredQuestion:
    """The reverse. `generation` only says whether the question is outdated: None if it is."""
    question = AskedQuestion(
        id=row.id,
        corpus_id=corpus_id,
        asked_by=row.asked_by,
        text=row.text,
        request=row.request,
        state=QuestionState(row.state),
        asked_at=datetime.fromtimestamp(row.asked_at, UTC),
        answered_at=None if row.answered_at is None else datetime.fromtimestamp(row.answered_at, UTC),
        generation=None if row.outdated else 0,
        answer=row.answer,
        support=row.support,
        problem=row.problem,
        verification=row.verification,
        kept=row.kept,
        again_of=row.again_of,
        withdrawn=row.withdrawn,
    )
    return question, [_load_source(one) for one in row.sources]


def _load_source(row: ArchiveQuestionSource) -> QuestionSource:
    return QuestionSource(document_id=row.document_id, fingerprint=row.fingerprint, cited=row.cited)
