"""The bodies of the routes of documents, of estimates and of uploads, and what they answer."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Self

from pydantic import ConfigDict, Field, model_validator

from api.schemas.base import NULL, Flag, In, SelectiveFilterIn, Text, Whole
from api.schemas.jobs import JobBudgetIn, convert_job
from api.schemas.values import fill, fill_all
from app.services.estimates import Estimate
from app.services.ingestion import MAX_DOCUMENTS
from core.documents import KEY_PATTERN, MAX_KEY_LENGTH, MAX_METADATA_VALUES, MAX_TITLE_LENGTH, OnConflict
from core.filters import has_empty_part
from core.jobs import Job
from core.ports.record import Enqueued, NewRevision
from core.principals import MAX_PRINCIPAL_LENGTH, MAX_PRINCIPALS, PRINCIPAL_PATTERN, DocumentAccess
from hopweave.wire import documents as wire
from indexer import LAST_PAGE, LONGEST_EMBEDDING, Rejection

_Principal = Annotated[str, Field(max_length=MAX_PRINCIPAL_LENGTH, pattern=PRINCIPAL_PATTERN)]
_Access = Annotated[list[_Principal], Field(max_length=MAX_PRINCIPALS, fail_fast=True)]

AccessIn = Annotated[
    _Access | None,
    Field(
        description="Who may see the document, beside keys without principals: users and groups, such as "
        "`group:legal`. Left out or null, a new document is for everyone who may see the corpus, and a present one for "
        "those who may see it now."
    ),
]


class ManifestFileIn(In):
    """What the sender states about a file. All fields are optional.

    `media_type` chooses the loader; without it the suffix of the file's name does, else the content type of its part.
    """

    key: Text | None = None
    title: Text | None = None
    metadata: dict[str, Any] = Field(default_factory=dict, max_length=MAX_METADATA_VALUES)
    media_type: str | None = None
    access: AccessIn = None


class UploadIn(In):
    """The fields of an upload. `budget_tokens` is what the job may spend on language models before it pauses."""

    on_conflict: OnConflict = OnConflict.REPLACE
    budget_tokens: int | None = Field(default=None, ge=1)


_Strings = Annotated[list[str], Field(fail_fast=True)]
"""A list ends at its first fault: bodies of documents may have two million values, and each fault costs time."""

_BASE64 = "[A-Za-z0-9+/]"
_BYTES = f"^(?:{_BASE64}{{4}})*(?:{_BASE64}{{2}}==|{_BASE64}{{3}}=)?$"
_FLOATS = f"^(?:{_BASE64}{{16}})*(?:{_BASE64}{{6}}==|{_BASE64}{{11}}=|{_BASE64}{{16}})$"
"""Bytes, and floats of four bytes each, in Base64."""
_VECTOR: dict[str, Any] = {
    "minItems": 1,
    "maxItems": LONGEST_EMBEDDING,
    "contains": {"anyOf": [{"exclusiveMinimum": 0}, {"exclusiveMaximum": 0}]},
}
"""What `indexer` checks, whose messages name the document. A vector of zeros has no direction."""

Embedding = Annotated[
    Annotated[list[float], Field(fail_fast=True, json_schema_extra=_VECTOR)]
    | Annotated[str, Field(json_schema_extra={"pattern": _FLOATS})]
    | None,
    Field(
        description="The vector of the text by the model `embedding_model`: numbers, or Base64 of 32-bit floats. It is "
        "used in place of the corpus' model, and the text is one passage."
    ),
]


class ChunkIn(In):
    """A passage of a document that its sender has already chunked."""

    text: str
    page: Whole | None = Field(default=None, ge=0, le=LAST_PAGE)
    entities: _Strings = Field(default_factory=list)
    triples: list[Any] = Field(
        default_factory=list, description="`[subject, predicate, object]`; other values are counted as malformed."
    )
    embedding: Embedding = None


_KEY: dict[str, Any] = {"maxLength": MAX_KEY_LENGTH, "pattern": KEY_PATTERN}
_OBJECT: dict[str, Any] = {"type": "object"}
_NONE: dict[str, Any] = {"maxItems": 0}
_WITHOUT_EMBEDDING: dict[str, Any] = {
    "embedding": NULL,
    "chunks": {"items": {"properties": {"embedding": NULL}}},
}
_CONTENTS: dict[str, Any] = {
    "anyOf": [
        {"required": ["embedding_model"], "properties": {"embedding_model": {"type": "string", "minLength": 1}}},
        {"properties": _WITHOUT_EMBEDDING},
    ],
    "oneOf": [
        {
            "title": "text",
            "required": ["text"],
            "properties": {"text": {"type": "string"}, "chunks": NULL, "content": NULL, "media_type": NULL},
        },
        {
            "title": "chunks",
            "required": ["chunks"],
            "properties": {
                "chunks": {"type": "array"},
                "text": NULL,
                "content": NULL,
                "media_type": NULL,
                "embedding": NULL,
            },
        },
        *(
            {
                "title": f"{name} of a media type",
                "required": [name, "media_type"],
                "properties": {
                    name: {"type": "string"},
                    "media_type": {"type": "string", "minLength": 1},
                    other: NULL,
                    "chunks": NULL,
                    "entities": _NONE,
                    "triples": _NONE,
                    "embedding": NULL,
                },
            }
            for name, other in (("text", "content"), ("content", "text"))
        ),
    ],
}
"""What `api.routes.documents` checks, whose messages name the document and what it lacks."""


class DocumentIn(In):
    """A document has `text`, `chunks` or `content`. Its default key is the hash of its content.

    `media_type` chooses the loader of `text` or `content`, as the suffix of a file does: `text/markdown` is split at
    its headings. Then the document has no `chunks`, `entities`, `triples` and `embedding`. `content` is in Base64, and
    needs it.
    """

    model_config = ConfigDict(json_schema_extra=_CONTENTS)

    key: Annotated[Text, Field(json_schema_extra=_KEY)] | None = None
    title: Annotated[str, Field(json_schema_extra={"maxLength": MAX_TITLE_LENGTH})] | None = None
    text: str | None = None
    chunks: Annotated[list[ChunkIn], Field(fail_fast=True)] | None = None
    content: Annotated[str, Field(json_schema_extra={"pattern": _BYTES, "contentEncoding": "base64"})] | None = Field(
        default=None, description="The bytes of a file, in Base64."
    )
    media_type: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict, max_length=MAX_METADATA_VALUES)
    entities: _Strings = Field(default_factory=list)
    triples: list[Any] = Field(
        default_factory=list, description="`[subject, predicate, object]`; other values are counted as malformed."
    )
    embedding: Embedding = None
    embedding_model: str | None = Field(
        default=None, description="The model of the embeddings, by the name that the corpus has; they need it."
    )
    access: AccessIn = None


class DocumentsIn(In):
    documents: Annotated[list[DocumentIn], Field(fail_fast=True)] = Field(min_length=1, max_length=MAX_DOCUMENTS)
    on_conflict: OnConflict = OnConflict.REPLACE
    budget: JobBudgetIn | None = None


class _ChosenIn(In):
    """Documents by `keys` or by `filter`."""

    _INSTEAD: ClassVar[str]

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"title": "by keys", "required": ["keys"], "properties": {"keys": {"type": "array"}, "filter": NULL}},
                {"title": "by a filter", "required": ["filter"], "properties": {"filter": _OBJECT, "keys": NULL}},
            ]
        }
    )

    keys: Annotated[list[Text], Field(fail_fast=True)] | None = Field(
        default=None, min_length=1, max_length=MAX_DOCUMENTS
    )
    filter: SelectiveFilterIn | None = Field(default=None, description="A metadata filter, as for searches; not empty.")

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.keys is None) == (self.filter is None):
            raise ValueError("give either `keys` or `filter`")
        if self.filter is not None and has_empty_part(self.filter):
            raise ValueError(f"an empty filter, or part of one, matches every document; {self._INSTEAD}")
        return self


class DeleteIn(_ChosenIn):
    """Either `keys` or `filter` says which documents are deleted."""

    _INSTEAD: ClassVar[str] = "delete the corpus instead"


class AccessChangeIn(_ChosenIn):
    """Either `keys` or `filter` says which documents the access is for, with the attachments of mails among them.
    `access` null is for everyone who may see the corpus; `[]` for nobody but keys without principals.
    """

    _INSTEAD: ClassVar[str] = "give it a condition, such as on `$key`"

    access: _Access | None


class DocumentPatchIn(In):
    """What is left out stays. `enabled: false` hides the document from every search, question and walk in the graph, at
    once, until it is enabled again. `metadata` is merged into those of the sender: null deletes a field.

    `access` says who may see the document, and the attachments of a mail, at once: null is for everyone who may see the
    corpus, `[]` for nobody but keys without principals.

    `title: null` brings back the title of the document's text. Metadata that the content itself has stay unless a field
    replaces them.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"required": ["title"]},
                {"required": ["metadata"]},
                {"required": ["enabled"], "properties": {"enabled": {"type": "boolean"}}},
                {"required": ["access"]},
            ]
        }
    )

    title: Text | None = Field(default=None, max_length=MAX_TITLE_LENGTH)
    metadata: dict[str, Any] | None = Field(default=None, max_length=MAX_METADATA_VALUES)
    enabled: Flag | None = None
    access: _Access | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.makes_revision and self.enabled is None and not self.sets_access:
            raise ValueError("give `title`, `metadata`, `enabled` or `access`")
        return self

    @property
    def sets_access(self) -> bool:
        return "access" in self.model_fields_set

    @property
    def new_access(self) -> DocumentAccess:
        return None if self.access is None else tuple(self.access)

    @property
    def makes_revision(self) -> bool:
        return bool(self.model_fields_set & {"title", "metadata"})

    def apply(self, submitted: NewRevision) -> NewRevision:
        """Returns the submission with the changes, and its former fingerprint."""
        merged = {**submitted.metadata, **(self.metadata or {})}
        removed = {name for name, value in (self.metadata or {}).items() if value is None}
        return replace(
            submitted,
            title=self.title if "title" in self.model_fields_set else submitted.title,
            metadata={name: value for name, value in merged.items() if name not in removed},
        )


def convert_enqueued(enqueued: Enqueued, rejected: Iterable[Rejection] = ()) -> wire.Enqueued:
    """Returns the response of a request that queues documents."""
    return wire.Enqueued(
        job=convert_job(enqueued.job),
        documents=fill_all(wire.Queued, enqueued.documents),
        rejected=fill_all(wire.Rejection, rejected),
    )


def convert_deletion(job: Job, missing: Iterable[str] = ()) -> wire.Deletion:
    return wire.Deletion(job=convert_job(job), missing=tuple(missing))


def convert_estimate(estimate: Estimate) -> wire.Estimate:
    notes = tuple(wire.EstimateNote(key=key, note=note) for key, note in estimate.notes)
    return fill(wire.Estimate, estimate, notes=notes)
