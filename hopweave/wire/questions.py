"""Stored questions with their answers, and what changed since a question was asked before."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

from hopweave.wire.answers import Answer, Support, Verdict, Verification, VerificationCost
from hopweave.wire.base import doc

__all__ = [
    "ComparedDocument",
    "ComparedDocuments",
    "GenerationChange",
    "QuestionChanges",
    "QuestionList",
    "QuestionProblem",
    "QuestionState",
    "StoredQuestion",
    "SupportChange",
    "TextChange",
    "VerifyingAnswer",
]

QuestionState: TypeAlias = Literal["running", "done", "failed", "cancelled"]


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionProblem:
    """Why a question has no answer (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    instance: str


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifyingAnswer:
    """`documents` are those whose role is known; the answers without them come with the result."""

    cost: VerificationCost | None
    documents: tuple[Verdict, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredQuestion:
    """A stored question. In lists `answer` and `verification` are null.

    Passages and quotes in `answer` are those of the documents as they are now; they are empty where a passage is not
    there any more.
    """

    id: str
    question: str
    request: Mapping[str, Any] = field(metadata=doc("The body that it was asked with, without what was left out."))
    state: QuestionState
    asked_at: datetime
    answered_at: datetime | None = field(metadata=doc("When it ended."))
    generation: int | None = field(
        metadata=doc("The generation of the corpus when it was asked; null if the corpus was indexed again since.")
    )
    answer: Answer | None
    problem: QuestionProblem | None
    kept: bool
    again_of: str | None = field(metadata=doc("The question that this one asks again."))
    follows: str | None = field(metadata=doc("The question that this one follows in a conversation."))
    verification: Verification | None
    verifying: VerifyingAnswer | None = field(metadata=doc("How far the verification of the answer is that runs now."))
    verification_problem: QuestionProblem | None = field(metadata=doc("Why the last verification found nothing."))
    outdated: bool = field(metadata=doc("The corpus has changed since the question was asked."))
    withdrawn: bool = field(
        metadata=doc("A document that was retrieved has been deleted, and the answer with it: `answer` is null.")
    )


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
    """The documents that the answers cite. A document that has been deleted is in none of the lists."""

    added: tuple[ComparedDocument, ...]
    removed: tuple[ComparedDocument, ...]
    changed: tuple[ComparedDocument, ...] = field(metadata=doc("Cited by both, and changed in between."))
    same: tuple[ComparedDocument, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionChanges:
    """What changed since the question that this one asks again. Without an answer, or withdrawn, a text is null."""

    before: str = field(metadata=doc("The id of the question that this one asks again."))
    same_answer: bool = field(metadata=doc("The answers differ at most in their markers and spaces."))
    answer: TextChange
    support: SupportChange
    documents: ComparedDocuments
    generation: GenerationChange


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionList:
    data: tuple[StoredQuestion, ...]
    next_cursor: str | None
