"""Ranked chunks to an answer."""

from dataclasses import dataclass, field
from typing import Protocol

from core.corpora import Corpus
from core.documents import DocumentRef, Span
from core.ports.retrieval import Hit
from core.trace import Trace

__all__ = ["Answer", "Citation", "Question", "Reasoner", "Step"]


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked of which corpus; `documents` as in `core.ports.retrieval.Query`."""

    corpus: Corpus
    text: str
    k: int = 5
    documents: frozenset[str] | None = None


@dataclass(frozen=True, kw_only=True)
class Citation:
    """What one marker of the answer stands on. `quote` is verbatim in the chunk.

    `answer_span` is where the answer uses it, `source_span` where the quote stands in the chunk's text.
    """

    marker: int
    chunk_id: str
    document: DocumentRef
    page: int | None
    quote: str
    answer_span: Span
    source_span: Span


@dataclass(frozen=True, kw_only=True)
class Step:
    """One hop of the reasoning: a question, what was retrieved for it, and its answer."""

    question: str
    hits: tuple[Hit, ...]
    answer: str


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A cited answer. `abstained` says that nothing near enough was found, and `text` then says so."""

    text: str
    reasoner: str
    citations: tuple[Citation, ...] = ()
    steps: tuple[Step, ...] = field(default=())
    abstained: bool = False


class Reasoner(Protocol):
    """Answers a question from what it retrieves. An empty corpus gives an abstention and is no error."""

    async def answer(self, question: Question, trace: Trace) -> Answer: ...
