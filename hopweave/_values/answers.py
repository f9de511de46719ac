"""Questions and answers: limits and history, cited answers and their verification, events on the way, stored questions.

The last event of `ask_events` is the `Answer`. The `step` of an event is the id of its step, empty for the question as
a whole.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from hopweave._values.content import Hit, HitDocument, Span, Usage

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
    `page_label` is the label of its page, such as `iv`, if that is another one than the number.

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
    page_label: str = ""
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
class VerificationCost:
    """What verifying an answer would cost, estimated: the documents that are masked, the calls and tokens for all."""

    documents: int
    calls: int
    tokens: int


DocumentRole: TypeAlias = Literal["needed", "redundant", "contradicts", "unclear"]


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifiedDocument:
    """A document of the answer."""

    id: str
    key: str
    title: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Replacement:
    """A document that the answer cites in place of a redundant one."""

    id: str
    key: str
    title: str
    corpus: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerWithout:
    """The answer to the question without a document, without markers."""

    answer: str
    support: Literal["stated", "quoted", "inferred", "memory", "none"]
    abstained: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What a document is to the answer, and `why` in a sentence.

    `needed`: without it there is no answer, or none that passages state as before. `redundant`: the same answer stands
    without it, on `replaced_by`. `contradicts`: without it, passages state another answer. `unclear`: it was not found
    out. `markers` are those of its citations; there are none if only a step of the answer quotes it. `without` is None
    if the question was not answered again.
    """

    document: VerifiedDocument
    corpus: str
    role: DocumentRole
    markers: tuple[int, ...]
    without: AnswerWithout | None
    replaced_by: tuple[Replacement, ...]
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Verification:
    """The verdicts. `together` are groups of ids of documents, each of which is redundant, while one of the group is
    needed. `usage` is that of the verification alone.
    """

    documents: tuple[Verdict, ...]
    together: tuple[tuple[str, ...], ...]
    usage: Usage
    notes: tuple[str, ...]


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


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedStep:
    """`question` may hold tags that stand for answers of its `parents`."""

    id: str
    question: str
    parents: tuple[str, ...]
    depth: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanEvent:
    """The steps as they are planned; a later plan replaces the steps that it names again."""

    step: str
    steps: tuple[PlannedStep, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A passage that was found; its text is in the answer's `steps`."""

    chunk_id: str | None
    url: str | None
    document: DocumentName
    score: float


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchEvent:
    """A search: its query, its searcher, and its hits, best first."""

    step: str
    query: str
    searcher: str
    hits: tuple[Found, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class StepEvent:
    """A step's answer; a later one of the same step replaces it."""

    step: str
    question: str
    parents: tuple[str, ...]
    depth: int
    answer: str
    verdict: str
    support: Support
    unstated: str
    quotes: tuple[Quote, ...]
    seconds: float
    tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ReviewEvent:
    """The result of checking a step's answer; `text` is the corrected answer or the question that remains."""

    step: str
    verdict: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenEvent:
    """A piece of the answer's text, as the model writes it."""

    step: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class NoteEvent:
    """A remark about the way to the answer."""

    step: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifyingEvent:
    """A verification begins: of which answer, without markers, and what it is expected to cost."""

    step: str
    answer: str
    support: Support
    cost: VerificationCost


@dataclass(frozen=True, kw_only=True, slots=True)
class VerificationEvent:
    """The verdict on a document, as a `Verdict`. The answer replaces it, and may name more replacements."""

    document: VerifiedDocument
    corpus: str
    role: DocumentRole
    markers: tuple[int, ...]
    without: AnswerWithout | None
    replaced_by: tuple[Replacement, ...]
    why: str
    step: str


Event: TypeAlias = (
    PlanEvent
    | SearchEvent
    | StepEvent
    | ReviewEvent
    | TokenEvent
    | NoteEvent
    | VerifyingEvent
    | VerificationEvent
    | Answer
)

EVENTS: dict[str, type[Event]] = {
    "plan": PlanEvent,
    "search": SearchEvent,
    "step": StepEvent,
    "review": ReviewEvent,
    "token": TokenEvent,
    "note": NoteEvent,
    "verifying": VerifyingEvent,
    "verification": VerificationEvent,
    "answer": Answer,
}
"""By the name of the server-sent event."""

QuestionState: TypeAlias = Literal["running", "done", "failed", "cancelled"]


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionProblem:
    """Why a question has no answer, as an error of the HTTP API."""

    type: str
    title: str
    status: int
    detail: str
    instance: str


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifyingAnswer:
    """How far a verification is: its expected cost, and the documents whose role is known."""

    cost: VerificationCost | None
    documents: tuple[Verdict, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredQuestion:
    """A question with its answer. In lists, `answer` is None.

    `request` is what it was asked with, `follows` the id of the question before it in a conversation. `problem` says
    why there is no answer. `outdated`: the corpus has changed since it was asked. `withdrawn`: a document that was
    retrieved has been deleted, and the answer with it. `verifying` tells how far the verification is that runs,
    `verification_problem` why the last one found nothing.
    """

    id: str
    question: str
    request: Mapping[str, Any]
    state: QuestionState
    asked_at: datetime
    answered_at: datetime | None
    generation: int | None
    answer: Answer | None
    problem: QuestionProblem | None
    kept: bool
    again_of: str | None
    follows: str | None
    verification: Verification | None
    verifying: VerifyingAnswer | None
    verification_problem: QuestionProblem | None
    outdated: bool
    withdrawn: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class TextChange:
    """The texts of two answers; None without an answer."""

    before: str | None
    after: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SupportChange:
    before: Support | None
    after: Support | None


@dataclass(frozen=True, kw_only=True, slots=True)
class GenerationChange:
    before: int | None
    after: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ComparedDocument:
    id: str
    key: str
    title: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ComparedDocuments:
    """The documents that two answers cite; `changed` are cited by both, and changed in between."""

    added: tuple[ComparedDocument, ...]
    removed: tuple[ComparedDocument, ...]
    changed: tuple[ComparedDocument, ...]
    same: tuple[ComparedDocument, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionChanges:
    """What changed since the question `before`."""

    before: str
    same_answer: bool
    answer: TextChange
    support: SupportChange
    documents: ComparedDocuments
    generation: GenerationChange
