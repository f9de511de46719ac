"""Stored questions as rows of a record, and back."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from core.questions import AskedQuestion, NewQuestion, QuestionOutcome
from core.record_policy.questions import state_of
from stores.payloads import dump, moment

__all__ = ["dump_new", "dump_optional", "dump_outcome", "dump_whole", "load_optional", "load_question"]

Get = Callable[[str], Any]


def dump_optional(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def load_optional(text: str | None) -> dict[str, Any] | None:
    found: dict[str, Any] | None = None if text is None else json.loads(text)
    return found


def dump_new(question: NewQuestion) -> dict[str, Any]:
    """Returns the columns of a new question, without those that the store sets."""
    return {
        "id": question.id,
        "corpus_id": question.corpus_id,
        "asked_by": question.asked_by,
        "text": question.text,
        "request": dump(dict(question.request)),
        "again_of": question.again_of,
    }


def dump_outcome(outcome: QuestionOutcome) -> dict[str, Any]:
    return {
        "state": outcome.state.value,
        "answer": dump_optional(outcome.answer),
        "support": outcome.support,
        "problem": dump_optional(outcome.problem),
    }


def dump_whole(question: AskedQuestion, corpus_id: str) -> dict[str, Any]:
    """Returns the columns of a final question of a backup, but `generation`."""
    return {
        "id": question.id,
        "corpus_id": corpus_id,
        "asked_by": question.asked_by,
        "text": question.text,
        "request": dump(dict(question.request)),
        "again_of": question.again_of,
        "state": question.state.value,
        "asked_at": question.asked_at.timestamp(),
        "answered_at": None if question.answered_at is None else question.answered_at.timestamp(),
        "answer": dump_optional(question.answer),
        "support": question.support,
        "problem": dump_optional(question.problem),
        "verification": dump_optional(question.verification),
        "kept": question.kept,
        "withdrawn": question.withdrawn,
    }


def load_question(get: Get, now: float, *, whole: bool = True) -> AskedQuestion:
    """Takes the columns of a question, and the time by the store's clock. Not `whole`: without what is long."""
    state, problem = state_of(get("state"), load_optional(get("problem")), get("lease_until") or 0.0, now)
    ended = moment(get("answered_at"))
    if state.final and ended is None:
        ended = moment(get("lease_until"))
    return AskedQuestion(
        id=get("id"),
        corpus_id=get("corpus_id"),
        asked_by=get("asked_by"),
        text=get("text"),
        request=json.loads(get("request")),
        state=state,
        asked_at=datetime.fromtimestamp(get("asked_at"), UTC),
        answered_at=ended,
        generation=get("generation"),
        answer=load_optional(get("answer")) if whole else None,
        support=get("support") or "",
        problem=problem,
        verification=load_optional(get("verification")) if whole else None,
        kept=bool(get("kept")),
        again_of=get("again_of"),
        withdrawn=bool(get("withdrawn")),
    )
