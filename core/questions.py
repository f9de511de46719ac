"""Questions that are stored with their answers, their states and events. Open it to add what is kept of a question."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class QuestionState(StrEnum):
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        return self is not QuestionState.RUNNING


@dataclass(frozen=True, kw_only=True)
class NewQuestion:
    """A question that is about to be answered.

    `request` is the body of the request, without what it leaves out. `asked_by` is the id of the key whose holder asks,
    '' without a key. `again_of` is the id of the question that it asks again.
    """

    id: str
    corpus_id: str
    text: str
    request: Mapping[str, Any]
    asked_by: str = ""
    again_of: str | None = None


@dataclass(frozen=True, kw_only=True)
class AskedQuestion:
    """A stored question.

    `generation` is the generation of the corpus when the question was asked; None if the corpus was indexed again
    since. `answer`, `problem` and `verification` are JSON. Passages and quotes of the corpus are not stored in
    `answer`: they are read when it is shown (`app/services/stored_questions/texts.py`). `support` is the answer's
    support, '' without an answer. `withdrawn`: a document that was retrieved for the answer has been deleted, and the
    answer and the events with it.
    """

    id: str
    corpus_id: str
    asked_by: str
    text: str
    request: Mapping[str, Any]
    state: QuestionState
    asked_at: datetime
    answered_at: datetime | None = None
    generation: int | None = None
    answer: Mapping[str, Any] | None = None
    support: str = ""
    problem: Mapping[str, Any] | None = None
    verification: Mapping[str, Any] | None = None
    kept: bool = False
    again_of: str | None = None
    withdrawn: bool = False


@dataclass(frozen=True, kw_only=True)
class QuestionEvent:
    """An event of a question while it is answered. `number` counts them from 1; `data` is JSON."""

    number: int
    kind: str
    data: str


@dataclass(frozen=True, kw_only=True)
class QuestionOutcome:
    """The end of a question: `done` with an answer, `failed` with a problem, or `cancelled`.

    `retrieved` and `cited` are ids of the documents whose passages were retrieved and cited.
    """

    state: QuestionState
    answer: Mapping[str, Any] | None = None
    support: str = ""
    problem: Mapping[str, Any] | None = None
    retrieved: Collection[str] = ()
    cited: Collection[str] = ()


@dataclass(frozen=True, kw_only=True)
class QuestionSource:
    """A document that was retrieved for an answer. `fingerprint` is its revision's fingerprint at that time."""

    document_id: str
    fingerprint: str
    cited: bool
