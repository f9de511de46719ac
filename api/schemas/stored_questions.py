"""The bodies and responses of stored questions: `…/questions`.

`read_stored` returns an answer that was stored as its response, as it is verified later.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, Self

from pydantic import Field, model_validator

from api.problems import details_of
from api.schemas.ask import AskIn, BudgetIn, convert_answer, convert_verification
from api.schemas.base import Flag, In, Out, Text
from api.schemas.events import convert_event
from api.schemas.values import dump, load
from app.services.links import Links
from app.services.stored_questions.questions import QuestionChanges, is_outdated
from app.services.stored_questions.verifying import VerificationState
from core.corpora import Corpus
from core.documents import DocumentRef
from core.ids import document_id
from core.ports.reasoning import Answer, Support
from core.questions import AskedQuestion, QuestionState
from core.trace import ActionUsage, Event, Trace, Usage
from core.verification import Located, Verification
from hopweave.wire import answers as wire
from reasoning.verification import GivenAnswer
from reasoning.verification.given import Use, collect_documents, count_usage

__all__ = [
    "QuestionChangesOut",
    "QuestionIn",
    "QuestionListOut",
    "QuestionOut",
    "QuestionPatchIn",
    "StoredForm",
    "VerifyIn",
    "dump_request",
    "load_request",
    "path_of",
    "read_stored",
    "show_question",
]


def read_stored(answer: wire.Answer) -> GivenAnswer:
    """Returns what `app.services.questions.verify` has to know of the answer."""
    usage = Usage({(row.action, row.model): ActionUsage(**asdict(row)) for row in answer.usage.actions})
    hits = [hit for step in answer.steps for hit in step.hits if hit.url is None]
    calls, tokens = count_usage(usage, sum(len(hit.chunk.text) for hit in hits))
    chunks = {hit.chunk.id for hit in hits} | {one.chunk_id for one in answer.citations if one.chunk_id is not None}
    return GivenAnswer(
        text=_strip(answer),
        support=Support(answer.support),
        documents=collect_documents(_list_uses(answer)),
        chunks=frozenset(chunks),
        links=tuple(sorted({one.marker for one in answer.citations if one.url is not None})),
        calls=calls,
        tokens=tokens,
    )


def _strip(answer: wire.Answer) -> str:
    """Returns the text without the markers of its citations."""
    text = answer.answer
    for marker in {one.marker for one in answer.citations}:
        text = text.replace(f" [{marker}]", "").replace(f"[{marker}]", "")
    return text.strip()


def _list_uses(answer: wire.Answer) -> Iterator[Use]:
    for citation in answer.citations:
        if citation.url is None:
            document, span = citation.document, citation.answer_span
            ref = DocumentRef(id=document.id, key=document.key, title=document.title, metadata=document.metadata)
            yield Use(
                located=Located(ref, citation.corpus),
                marker=citation.marker,
                quote=citation.quote,
                place=answer.answer[span.start : span.end],
            )
    for step in answer.steps:
        for quote in step.quotes if step.answer else ():
            if quote.url is None:
                key = quote.document.key
                ref = DocumentRef(id=document_id(key), key=key, title=quote.document.title, metadata={})
                yield Use(located=Located(ref, quote.corpus), quote=quote.quote, place=step.answer)


_NO_LINKS = Links("")
"""Links are added when an answer is shown."""


class QuestionIn(AskIn):
    """A question that is answered in the background."""

    follows: Text | None = Field(
        default=None,
        description="The id of the question of this corpus that this one follows in a conversation: it and the "
        "questions before it, with their answers, are the `history`, which then is left out.",
    )

    stream: Flag = Field(
        default=False, description="Only for `ask`: `…/events` has the events.", json_schema_extra={"const": False}
    )

    @model_validator(mode="after")
    def _check_history(self) -> Self:
        if self.follows is not None and self.history:
            raise ValueError("`follows` takes the place of `history`: leave one of them out")
        return self


class QuestionProblemOut(Out):
    """Why a question has no answer (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    instance: str


class VerifyingAnswerOut(Out):
    """`documents` are those whose role is known; the answers without them come with the result."""

    cost: wire.VerificationCost | None
    documents: list[wire.Verdict]


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
    answer: wire.Answer | None
    problem: QuestionProblemOut | None
    kept: bool
    again_of: str | None = Field(description="The question that this one asks again.")
    follows: str | None = Field(description="The question that this one follows in a conversation.")
    verification: wire.Verification | None
    verifying: VerifyingAnswerOut | None = Field(description="How far the verification of the answer is that runs now.")
    verification_problem: QuestionProblemOut | None = Field(description="Why the last verification found nothing.")
    outdated: bool = Field(description="The corpus has changed since the question was asked.")
    withdrawn: bool = Field(
        description="A document that was retrieved has been deleted, and the answer with it: `answer` is null."
    )


class QuestionListOut(Out):
    data: list[QuestionOut]
    next_cursor: str | None


class VerifyIn(In):
    budget: BudgetIn = Field(default=BudgetIn(), description="The limits of the verification.")


class QuestionPatchIn(In):
    kept: Flag = Field(description="Whether the question stays until it is deleted.")


class ComparedDocumentOut(Out):
    id: str
    key: str
    title: str


class TextChangeOut(Out):
    before: str | None
    after: str | None


class SupportChangeOut(Out):
    before: Support | None
    after: Support | None


class GenerationChangeOut(Out):
    before: int | None
    after: int | None


class ComparedDocumentsOut(Out):
    """The documents that the answers cite. A document that has been deleted is in none of the lists."""

    added: list[ComparedDocumentOut]
    removed: list[ComparedDocumentOut]
    changed: list[ComparedDocumentOut] = Field(description="Cited by both, and changed in between.")
    same: list[ComparedDocumentOut]


class QuestionChangesOut(Out):
    """What changed since the question that this one asks again. Without an answer, or withdrawn, a text is null."""

    before: str = Field(description="The id of the question that this one asks again.")
    same_answer: bool = Field(description="The answers differ at most in their markers and spaces.")
    answer: TextChangeOut
    support: SupportChangeOut
    documents: ComparedDocumentsOut
    generation: GenerationChangeOut

    @classmethod
    def from_changes(cls, changes: QuestionChanges) -> Self:
        before, after = changes.before, changes.after
        return cls(
            before=before.id,
            same_answer=changes.same_answer,
            answer=TextChangeOut(before=_text_of(before), after=_text_of(after)),
            support=SupportChangeOut(before=_support_of(before), after=_support_of(after)),
            documents=ComparedDocumentsOut(
                **{name: [_name(ref) for ref in getattr(changes, name)] for name in ComparedDocumentsOut.model_fields}
            ),
            generation=GenerationChangeOut(before=before.generation, after=after.generation),
        )


class StoredForm:
    """Implements `app.services.stored_questions.runner.StoredForm`: what is stored is what `/ask` sends."""

    def event(self, event: Event) -> dict[str, Any] | None:
        data = convert_event(event, _NO_LINKS)
        return None if data is None else dump(data)

    def answer(self, answer: Answer, trace: Trace) -> dict[str, Any]:
        return dump(convert_answer(answer, trace, _NO_LINKS))

    def given(self, answer: Mapping[str, Any]) -> GivenAnswer:
        return read_stored(load(wire.Answer, answer))

    def verification(self, verification: Verification) -> dict[str, Any]:
        return dump(convert_verification(verification))

    def problem(self, error: BaseException) -> dict[str, Any]:
        details = details_of(error, "")
        del details["instance"]  # it is added when the problem is shown: a corpus may get another name
        return details


def dump_request(body: AskIn) -> dict[str, Any]:
    """Returns a body as it is stored."""
    return body.model_dump(mode="json", exclude_unset=True, exclude={"stream"})


def load_request(question: AskedQuestion) -> QuestionIn:
    """Returns the body to ask a stored question again with: as it was, and of the corpus as it is now."""
    return QuestionIn.model_validate(
        {name: value for name, value in question.request.items() if name != "min_generation"}
    )


def path_of(corpus: Corpus, question_id: str) -> str:
    return f"/v1/corpora/{corpus.name}/questions/{question_id}"


def show_question(corpus: Corpus, question: AskedQuestion) -> dict[str, Any]:
    """Returns the JSON of a `QuestionOut`. Answers are not read into values, as their schema may have grown since."""
    instance = path_of(corpus, question.id)
    verification = VerificationState.of(question.verification)
    return {
        "id": question.id,
        "question": question.text,
        "request": dict(question.request),
        "state": question.state.value,
        "asked_at": _time(question.asked_at),
        "answered_at": None if question.answered_at is None else _time(question.answered_at),
        "generation": question.generation,
        "answer": question.answer,
        "problem": question.problem and {**question.problem, "instance": instance},
        "kept": question.kept,
        "again_of": question.again_of,
        "follows": question.request.get("follows"),
        "verification": verification.result,
        "verifying": verification.running,
        "verification_problem": verification.problem and {**verification.problem, "instance": instance},
        "outdated": is_outdated(corpus, question),
        "withdrawn": question.withdrawn,
    }


def _time(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


def _text_of(question: AskedQuestion) -> str | None:
    return None if question.answer is None else str(question.answer["answer"])


def _support_of(question: AskedQuestion) -> Support | None:
    return Support(question.support) if question.support else None


def _name(ref: DocumentRef) -> ComparedDocumentOut:
    return ComparedDocumentOut(id=ref.id, key=ref.key, title=ref.title)
