"""Questions' limits and history, and cited answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from hopweave._values.documents import Span
from hopweave._values.search import Hit, HitDocument
from hopweave._values.usage import Usage
from hopweave._values.verification import Verification, VerificationCost

__all__ = ["Answer", "Budget", "Cell", "Citation", "DocumentName", "Message", "Quote", "Step", "Support", "Unsupported"]

Support: TypeAlias = Literal["stated", "quoted", "inferred", "memory", "none"]
Unsupported: TypeAlias = Literal["infer", "abstain", "memory"]


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
class Cell:
    """A cell of a table: the label of its row, the name of its column, and its value, which is in the chunk at `span`.

    A group of rows, and a name that spans several columns, stand before the label or name, with ` › ` between them.
    """

    row: str
    column: str
    value: str
    page: int | None
    span: Span


@dataclass(frozen=True, kw_only=True, slots=True)
class Citation:
    """`quote` is verbatim in the chunk, at `source_span`; the answer uses it at `answer_span`.

    `part_of` tells on one line what the quote is part of: headings, sender and date of a mail, names of columns.

    `cell` is the cell of a table that the quote is about: the cell it stands in, or whose value the answer states.

    A passage of the web has a `url` and no `chunk_id`. `link` is the address of the passage in the web page of a server
    that has a public address.
    """

    marker: int
    corpus: str
    chunk_id: str | None
    url: str | None
    link: str | None
    document: HitDocument
    page: int | None
    part_of: str = ""
    quote: str
    answer_span: Span
    source_span: Span
    cell: Cell | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Quote:
    """Text that supports a step's answer, verbatim in the chunk or, with `url`, in the result of the web search."""

    corpus: str
    chunk_id: str | None
    url: str | None
    link: str | None
    document: DocumentName
    part_of: str = ""
    quote: str
    source_span: Span


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One hop: a question, all that was retrieved for it, and its answer. `parents` are the steps that it built on.

    `verdict` is a word of the reasoner's own; empty where nothing was checked. `support` says what the answer stands
    on, and `unstated` what no passage states of it.
    """

    id: str
    question: str
    parents: tuple[str, ...]
    depth: int
    answer: str
    verdict: str
    support: Support
    unstated: str
    quotes: tuple[Quote, ...]
    hits: tuple[Hit, ...]
    seconds: float
    tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A cited answer. `abstained` says that none is given, and then `answer` says so, and `citations` are
    the nearest passages, if the reasoner names any.

    `support` says what the answer stands on: `stated` by passages, `quoted` from them, `inferred`, the model's
    `memory`, or `none`. `note` says why the answer is not stated, that passages contradict it, or that it only quotes.
    `timing` is in seconds by stage. `verification_cost` is what verifying the answer would cost; None if it cites no
    document of a corpus. `verification` is None unless it was asked for.
    """

    answer: str
    citations: tuple[Citation, ...]
    steps: tuple[Step, ...]
    usage: Usage
    reasoner: str
    abstained: bool
    support: Support
    note: str
    notes: tuple[str, ...]
    timing: Mapping[str, float]
    verification_cost: VerificationCost | None
    verification: Verification | None
