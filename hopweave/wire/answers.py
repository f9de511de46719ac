"""Cited answers with their steps, and their verification: what each document is to an answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from hopweave.wire.base import Span, Usage, doc
from hopweave.wire.search import LINK, PAGE_LABEL, PART_OF, Hit, HitDocument
from hopweave.wire.validity import VALIDITY, Validity

__all__ = [
    "SUPPORT",
    "Answer",
    "AnswerRow",
    "AnswerWithout",
    "Cell",
    "Citation",
    "DocumentName",
    "DocumentRole",
    "Quote",
    "Replacement",
    "Step",
    "Support",
    "Verdict",
    "Verification",
    "VerificationCost",
    "VerifiedDocument",
]

Support: TypeAlias = Literal["stated", "quoted", "inferred", "memory", "none"]
DocumentRole: TypeAlias = Literal["needed", "redundant", "contradicts", "unclear"]

SUPPORT = (
    "What the answer stands on: `stated` by passages, `quoted` from them without a model that read them, `inferred` "
    "from them with an assumption, the model's `memory`, or `none` without an answer."
)
_CELL = "The cell of a table that the quote is about: the one it stands in, or the one whose value the answer states."


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
    """`quote` is verbatim in the chunk, at `source_span`; the answer uses it at `answer_span`."""

    marker: int
    corpus: str = field(metadata=doc("The name of the corpus; empty for a passage of the web."))
    chunk_id: str | None = field(metadata=doc("Null for a passage of the web."))
    url: str | None = field(metadata=doc("The address of a passage of the web, which is in no corpus."))
    link: str | None = field(metadata=doc(LINK))
    document: HitDocument
    page: int | None
    page_label: str = field(default="", metadata=doc(PAGE_LABEL))
    part_of: str = field(default="", metadata=doc(PART_OF))
    quote: str
    answer_span: Span
    source_span: Span
    cell: Cell | None = field(default=None, metadata=doc(_CELL))
    validity: Validity | None = field(default=None, metadata=doc(VALIDITY))


@dataclass(frozen=True, kw_only=True, slots=True)
class Quote:
    """Words that support a step's answer, verbatim in the chunk, or, with `url`, in the result of the web search."""

    corpus: str
    chunk_id: str | None
    url: str | None
    link: str | None = field(metadata=doc(LINK))
    document: DocumentName
    part_of: str = field(default="", metadata=doc(PART_OF))
    quote: str
    source_span: Span


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One hop: a question, all passages retrieved for it, and its answer, which used the answers of `parents`.

    `support` is `none` if there is no answer.
    """

    id: str
    question: str
    parents: tuple[str, ...]
    depth: int
    answer: str
    verdict: str = field(metadata=doc("A word that the reasoner defines; empty if nothing was checked."))
    support: Support = field(metadata=doc(SUPPORT))
    unstated: str = field(metadata=doc("What no passage states of the answer, in a few words."))
    quotes: tuple[Quote, ...]
    hits: tuple[Hit, ...]
    seconds: float
    tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class VerificationCost:
    """The documents that are masked, and the calls and tokens for all of them."""

    documents: int
    calls: int
    tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifiedDocument:
    """A document of the answer."""

    id: str
    key: str
    title: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Replacement(VerifiedDocument):
    """A document that the answer cites in place of a redundant one."""

    corpus: str = field(metadata=doc("The name of the corpus."))


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerWithout:
    """The answer without the document, without markers."""

    answer: str
    support: Support
    abstained: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What a document is to the answer."""

    document: VerifiedDocument
    corpus: str = field(metadata=doc("The name of the corpus."))
    role: DocumentRole = field(
        metadata=doc(
            "`needed`: without it there is no answer, or none that passages state as before. `redundant`: the "
            "same answer stands without it. `contradicts`: without it, passages state another answer. `unclear`: it "
            "was not found out."
        )
    )
    markers: tuple[int, ...] = field(
        metadata=doc("The markers of its citations in the answer; none if only a step of the answer quotes it.")
    )
    without: AnswerWithout | None = field(metadata=doc("Null if the question was not answered again."))
    replaced_by: tuple[Replacement, ...] = field(
        metadata=doc("The documents that the answer cites in place of a redundant one.")
    )
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Verification:
    """`usage` is that of the verification alone."""

    documents: tuple[Verdict, ...]
    together: tuple[tuple[str, ...], ...] = field(
        metadata=doc(
            "Groups of ids of documents, each of which is redundant, while one of the group is needed. They "
            "are among `documents` and their `replaced_by`."
        )
    )
    usage: Usage
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerRow:
    """A row of the table of an answer that lists documents, as surveys do."""

    kind: Literal["document", "row", "group", "total"] = field(
        metadata=doc(
            "A document that counts, a row of its table that counts in its place, all that count of a group together, "
            "or all together."
        )
    )
    group: str = field(metadata=doc("The name of the group; empty without one."))
    name: str = field(metadata=doc("What a row of a table is about; empty in other rows."))
    value: str = field(metadata=doc("A number in plain digits; empty if nothing was added up."))
    unit: str = field(metadata=doc("The unit of the value, such as `EUR`; empty if none is given."))
    documents: int = field(metadata=doc("How many documents the row stands for."))
    count: int = field(metadata=doc("How many documents, and rows in their place, it stands for."))
    corpus: str = field(metadata=doc("The name of the corpus of the document; empty in other rows."))
    key: str
    title: str
    markers: tuple[int, ...] = field(metadata=doc("The markers of its citations in the answer."))


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """`abstained` is true if no answer is given; `answer` then says so, and `citations` are the nearest passages, if
    the reasoner names any. `timing` is in seconds by stage.
    """

    answer: str
    citations: tuple[Citation, ...]
    steps: tuple[Step, ...]
    usage: Usage
    reasoner: str
    abstained: bool
    support: Support = field(metadata=doc(SUPPORT))
    note: str = field(
        metadata=doc(
            "Why the answer is not stated, that passages contradict it, or that it only quotes, for the "
            "reader of the answer."
        )
    )
    notes: tuple[str, ...]
    timing: Mapping[str, float]
    verification_cost: VerificationCost | None = field(
        metadata=doc("What verifying this answer would cost, estimated; null if it cites no document of a corpus.")
    )
    verification: Verification | None = field(metadata=doc("Null if it was not asked for (`verify`)."))
    table: tuple[AnswerRow, ...] = field(
        default=(), metadata=doc("The documents that a survey lists, with their groups and values; else empty.")
    )
