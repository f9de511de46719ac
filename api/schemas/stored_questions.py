"""The bodies of the routes of stored questions, and the questions that they show.

`read_stored` returns an answer that was stored as its response, as it is verified later.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, Self

from pydantic import Field, model_validator

from api.problems import details_of
from api.schemas.ask import AskIn, BudgetIn, convert_answer, convert_verification
from api.schemas.base import Flag, In, Text
from api.schemas.events import convert_event
from api.schemas.values import dump, fill, load
from app.services.links import Links
from app.services.stored_questions.questions import QuestionChanges, is_outdated
from app.services.stored_questions.verifying import VerificationState
from core.corpora import Corpus
from core.documents import DocumentRef
from core.ids import document_id
from core.ports.reasoning import Answer, Support
from core.questions import AskedQuestion
from core.trace import ActionUsage, Event, Trace, Usage
from core.verification import Located, Verification
from hopweave.wire import answers
from hopweave.wire import questions as wire
from reasoning.verification import GivenAnswer
from reasoning.verification.given import Use, collect_documents, count_usage


def read_stored(answer: answers.Answer) -> GivenAnswer:
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


def _strip(answer: answers.Answer) -> str:
    """Returns the text without the markers of its citations."""
    text = answer.answer
    for marker in {one.marker for one in answer.citations}:
        text = text.replace(f" [{marker}]", "").replace(f"[{marker}]", "")
    return text.strip()


def _list_uses(answer: answers.Answer) -> Iterator[Use]:
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


class VerifyIn(In):
    budget: BudgetIn = Field(default=BudgetIn(), description="The limits of the verification.")


class QuestionPatchIn(In):
    kept: Flag = Field(description="Whether the question stays until it is deleted.")


class StoredForm:
    """Implements `app.services.stored_questions.runner.StoredForm`: what is stored is what `/ask` sends."""

    def event(self, event: Event) -> dict[str, Any] | None:
        data = convert_event(event, _NO_LINKS)
        return None if data is None else dump(data)

    def answer(self, answer: Answer, trace: Trace) -> dict[str, Any]:
        return dump(convert_answer(answer, trace, _NO_LINKS))

    def given(self, answer: Mapping[str, Any]) -> GivenAnswer:
        return read_stored(load(answers.Answer, answer))

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
    """Returns the JSON of a `StoredQuestion`. Answers are not read into values: they may have fewer fields."""
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


def convert_changes(changes: QuestionChanges) -> wire.QuestionChanges:
    before, after = changes.before, changes.after
    return wire.QuestionChanges(
        before=before.id,
        same_answer=changes.same_answer,
        answer=wire.TextChange(before=_text_of(before), after=_text_of(after)),
        support=wire.SupportChange(before=_support_of(before), after=_support_of(after)),
        documents=fill(wire.ComparedDocuments, changes),
        generation=wire.GenerationChange(before=before.generation, after=after.generation),
    )


def _text_of(question: AskedQuestion) -> str | None:
    return None if question.answer is None else str(question.answer["answer"])


def _support_of(question: AskedQuestion) -> Any:
    return question.support or None
