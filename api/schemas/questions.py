"""The bodies and responses of stored questions: `…/questions`."""

from datetime import datetime
from typing import Any, Self

from pydantic import Field

from api.problems import details_of
from api.schemas.ask import AnswerOut, AskIn
from api.schemas.base import Flag, In, Out
from api.schemas.events import convert_event
from app.services.asked.questions import QuestionChanges, is_outdated
from core.corpora import Corpus
from core.documents import DocumentRef
from core.ports.reasoning import Answer, Support
from core.questions import AskedQuestion, QuestionState
from core.trace import Event, Trace

__all__ = [
    "QuestionChangesOut",
    "QuestionListOut",
    "QuestionOut",
    "QuestionPatchIn",
    "StoredForm",
    "dump_request",
    "load_request",
    "path_of",
    "show_question",
]


class ProblemOut(Out):
    """Why a question has no answer (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    instance: str


class QuestionOut(Out):
    """A stored question. In lists `answer` and `verification` are null.

    Passages and quotes in `answer` are those of the documents as they are now; they are empty where a passage is not
    there any more.
    """

    id: str
    question: str
    request: dict[str, Any] = Field(description="The body that it was asked with, without what was left out.")
    state: QuestionState
    asked_at: datetime
    answered_at: datetime | None = Field(description="When it ended.")
    generation: int | None = Field(
        description="The generation of the corpus when it was asked; null if the corpus was indexed again since."
    )
    answer: AnswerOut | None
    problem: ProblemOut | None
    kept: bool
    again_of: str | None = Field(description="The question that this one asks again.")
    verification: dict[str, Any] | None
    outdated: bool = Field(description="The corpus has changed since the question was asked.")
    withdrawn: bool = Field(
        description="A document that was retrieved has been deleted, and the answer with it: `answer` is null."
    )


class QuestionListOut(Out):
    data: list[QuestionOut]
    next_cursor: str | None


class QuestionPatchIn(In):
    kept: Flag = Field(description="Whether the question stays until it is deleted.")


class NamedDocumentOut(Out):
    id: str
    key: str
    title: str


class TextsOut(Out):
    before: str | None
    after: str | None


class SupportsOut(Out):
    before: Support | None
    after: Support | None


class GenerationsOut(Out):
    before: int | None
    after: int | None


class ChangedDocumentsOut(Out):
    """The documents that the answers cite. A document that has been deleted is in none of the lists."""

    added: list[NamedDocumentOut]
    removed: list[NamedDocumentOut]
    changed: list[NamedDocumentOut] = Field(description="Cited by both, and changed in between.")
    same: list[NamedDocumentOut]


class QuestionChangesOut(Out):
    """What changed since the question that this one asks again. Without an answer, or withdrawn, a text is null."""

    before: str = Field(description="The id of the question that this one asks again.")
    same_answer: bool = Field(description="The answers differ at most in their markers and spaces.")
    answer: TextsOut
    support: SupportsOut
    documents: ChangedDocumentsOut
    generation: GenerationsOut

    @classmethod
    def from_changes(cls, changes: QuestionChanges) -> Self:
        before, after = changes.before, changes.after
        return cls(
            before=before.id,
            same_answer=changes.same_answer,
            answer=TextsOut(before=_text_of(before), after=_text_of(after)),
            support=SupportsOut(before=_support_of(before), after=_support_of(after)),
            documents=ChangedDocumentsOut(
                **{name: [_name(ref) for ref in getattr(changes, name)] for name in ChangedDocumentsOut.model_fields}
            ),
            generation=GenerationsOut(before=before.generation, after=after.generation),
        )


class StoredForm:
    """Implements `app.services.asked.journal.AnswerForm`: what is stored is what `/ask` sends."""

    def event(self, event: Event) -> dict[str, Any] | None:
        data = convert_event(event)
        return None if data is None else data.model_dump(mode="json")

    def answer(self, answer: Answer, trace: Trace) -> dict[str, Any]:
        return AnswerOut.from_answer(answer, trace).model_dump(mode="json")

    def problem(self, error: BaseException) -> dict[str, Any]:
        details = details_of(error, "")
        del details["instance"]  # it is added when the problem is shown: a corpus may get another name
        return details


def dump_request(body: AskIn) -> dict[str, Any]:
    """Returns a body as it is stored."""
    return body.model_dump(mode="json", exclude_unset=True, exclude={"stream"})


def load_request(question: AskedQuestion) -> AskIn:
    """Returns the body to ask a stored question again with: as it was, and of the corpus as it is now."""
    return AskIn.model_validate({name: value for name, value in question.request.items() if name != "min_generation"})


def path_of(corpus: Corpus, question_id: str) -> str:
    return f"/v1/corpora/{corpus.name}/questions/{question_id}"


def show_question(corpus: Corpus, question: AskedQuestion) -> dict[str, Any]:
    """Returns the JSON of a `QuestionOut`. Answers are not read into values, as their schema may have grown since."""
    problem = question.problem and {**question.problem, "instance": path_of(corpus, question.id)}
    return {
        "id": question.id,
        "question": question.text,
        "request": dict(question.request),
        "state": question.state.value,
        "asked_at": _time(question.asked_at),
        "answered_at": None if question.answered_at is None else _time(question.answered_at),
        "generation": question.generation,
        "answer": question.answer,
        "problem": problem,
        "kept": question.kept,
        "again_of": question.again_of,
        "verification": question.verification,
        "outdated": is_outdated(corpus, question),
        "withdrawn": question.withdrawn,
    }


def _time(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


def _text_of(question: AskedQuestion) -> str | None:
    return None if question.answer is None else str(question.answer["answer"])


def _support_of(question: AskedQuestion) -> Support | None:
    return Support(question.support) if question.support else None


def _name(ref: DocumentRef) -> NamedDocumentOut:
    return NamedDocumentOut(id=ref.id, key=ref.key, title=ref.title)
