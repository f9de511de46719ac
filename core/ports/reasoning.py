"""The port of reasoners: a question, and the cited answer with its steps."""

from dataclasses import dataclass, field
from typing import Protocol

from core.corpora import Corpus
from core.documents import DocumentRef, Span
from core.ports.chat import Message
from core.ports.retrieval import Hit
from core.trace import Trace

__all__ = ["Answer", "Citation", "Question", "Quote", "Reasoner", "Step"]


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question about a corpus; `documents` and `web` as in `core.ports.retrieval.Query`.

    `k` is the number of passages of a retrieval; None leaves it to the reasoner. `instructions` say how to write the
    answer, `history` is the conversation before the question.
    """

    corpus: Corpus
    text: str
    k: int | None = None
    documents: frozenset[str] | None = None
    instructions: str = ""
    history: tuple[Message, ...] = ()
    web: bool = False


@dataclass(frozen=True, kw_only=True)
class Citation:
    """The source of one marker of the answer. `quote` is verbatim in the chunk.

    `answer_span` is where the answer uses it, `source_span` where the quote is in the chunk's text. With `url` the
    passage is from the web, and `chunk_id` names no chunk of the corpus.
    """

    marker: int
    chunk_id: str
    document: DocumentRef
    page: int | None
    quote: str
    answer_span: Span
    source_span: Span
    url: str | None = None


@dataclass(frozen=True, kw_only=True)
class Quote:
    """The source of an intermediate answer: words that are verbatim in a chunk, and where."""

    hit: Hit
    text: str
    span: Span


@dataclass(frozen=True, kw_only=True)
class Step:
    """One hop of the reasoning: a question, all that was retrieved for it, and its answer.

    `parents` are the ids of the steps whose answers it used; `depth` counts from 0. `verdict` is a word of the strategy
    (such as `supported`, `PASS`, `insufficient`). `seconds` are wall time, `tokens` those of its calls.
    """

    question: str
    hits: tuple[Hit, ...]
    answer: str
    id: str = ""
    parents: tuple[str, ...] = ()
    depth: int = 0
    verdict: str = ""
    quotes: tuple[Quote, ...] = ()
    seconds: float = 0.0
    tokens: int = 0


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A cited answer. `abstained` says that nothing relevant was found, and then `text` says so.

    `shown` are the texts in the prompt of the last call (passages, quotes or summaries), the evidence for the answer.
    """

    text: str
    reasoner: str
    citations: tuple[Citation, ...] = ()
    steps: tuple[Step, ...] = field(default=())
    abstained: bool = False
    shown: tuple[str, ...] = ()

    @property
    def plain(self) -> str:
        """The text without the markers of its citations."""
        text = self.text
        for marker in {citation.marker for citation in self.citations}:
            text = text.replace(f" [{marker}]", "").replace(f"[{marker}]", "")
        return text.strip()


class Reasoner(Protocol):
    """Answers a question from what it retrieves. An empty corpus gives an abstention and is not an error."""

    async def answer(self, question: Question, trace: Trace) -> Answer: ...
