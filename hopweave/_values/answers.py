"""Questions' limits and history, and cited answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from hopweave._values.documents import Span
from hopweave._values.search import Hit, HitDocument
from hopweave._values.usage import Usage

__all__ = ["Answer", "Budget", "Citation", "DocumentName", "Message", "Quote", "Step"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """Limits of one question: calls of models, tokens (prompt and completion together), seconds.

    Each may be at most the server's own limit, which holds where none is given.
    """

    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """A turn of the conversation before the question."""

    role: Literal["user", "assistant"]
    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentName:
    """The key and the title of a document."""

    key: str
    title: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Citation:
    """`quote` is verbatim in the chunk, at `source_span`; the answer uses it at `answer_span`.

    A passage of the web has a `url` and no `chunk_id`.
    """

    marker: int
    chunk_id: str | None
    url: str | None
    document: HitDocument
    page: int | None
    quote: str
    answer_span: Span
    source_span: Span


@dataclass(frozen=True, kw_only=True, slots=True)
class Quote:
    """Text that supports a step's answer, verbatim in the chunk or, with `url`, in the result of the web search."""

    chunk_id: str | None
    url: str | None
    document: DocumentName
    quote: str
    source_span: Span


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One hop: a question, all that was retrieved for it, and its answer. `parents` are the steps that it built on.

    `verdict` is a word of the reasoner's own; empty where nothing was checked.
    """

    id: str
    question: str
    parents: tuple[str, ...]
    depth: int
    answer: str
    verdict: str
    quotes: tuple[Quote, ...]
    hits: tuple[Hit, ...]
    seconds: float
    tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """`abstained` says that what was found holds no answer. `timing` is in seconds by stage."""

    answer: str
    citations: tuple[Citation, ...]
    steps: tuple[Step, ...]
    usage: Usage
    reasoner: str
    abstained: bool
    notes: tuple[str, ...]
    timing: Mapping[str, float]
