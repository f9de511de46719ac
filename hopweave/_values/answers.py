"""Questions and answers: limits and history, cited answers and their verification, events on the way, stored questions.

The last event of `ask_events` is the `Answer`. The `step` of an event is the id of its step, empty for the question as
a whole.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from hopweave.wire.answers import Answer, Support, Verdict, Verification, VerificationCost

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
