"""The actions `decide_document` and `decide_documents`: does a document meet a condition? Surveys ask it where words do
not decide.

A model of 1.5 billion parameters is asked about one document a call, with one decision and the sentence that it stands
on, so that it manages it and code can check it. A larger model decides on several documents in one call. What it says
of each is cached as if the model had been asked about the document alone, so it goes with that document.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, Field, ValidationError, field_validator

from core.errors import ModelFailed
from core.ports.chat import Completion
from core.ports.retrieval import Hit
from core.prompting.fences import format_hits, neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session

ROLE = "decide_document"
_PACKAGE = "reasoning.actions.judging"
_LONGEST_SENTENCE = 4000


class Decision(BaseModel):
    sentence: str = Field(default="", max_length=_LONGEST_SENTENCE)
    verdict: Literal["yes", "no", "unclear"]


class _Entry(BaseModel):
    document: int
    sentence: str = Field(default="", max_length=_LONGEST_SENTENCE)
    verdict: Literal["yes", "no", "unclear"]


class _Entries(BaseModel):
    documents: list[_Entry]

    @field_validator("documents", mode="before")
    @classmethod
    def _drop_malformed(cls, value: object) -> object:
        """One entry that cannot be read costs no other document its decision."""
        return [entry for entry in value if _is_entry(entry)] if isinstance(value, list) else value


def _is_entry(value: object) -> bool:
    try:
        _Entry.model_validate(value)
    except ValidationError:
        return False
    return True


async def decide_document(
    session: Session, condition: str, passages: Sequence[Hit], *, is_small: bool, step: str = ""
) -> Decision:
    """Returns what the model says of a document by some of its passages. Nothing of it is checked.

    The messages depend on the condition and the passages alone, so that the answer is cached for other questions with
    the same condition. Raises `ModelFailed` if the reply cannot be read.
    """
    if not is_small:
        decisions = await decide_documents(session, condition, [passages], step=step)
        if 0 not in decisions:
            raise ModelFailed(f"step {ROLE!r}: the reply has no document 1")
        return decisions[0]
    call = ModelCall(
        prompt=load_prompt(_PACKAGE, ROLE),
        question=condition,
        variables={"condition": neutral(condition)},
        passages=passages,
        step=step,
    )
    reply, _ = await session.complete_structured(call, Decision)
    return reply


async def decide_documents(
    session: Session, condition: str, documents: Sequence[Sequence[Hit]], *, step: str = ""
) -> Mapping[int, Decision]:
    """Returns what the model says of documents by some of their passages, by their places. Nothing of it is checked.

    A document has no decision if the reply has none for its number, or two. The answer on one document is cached, and
    the answer on several is not. Raises `ModelFailed` if the reply cannot be read.
    """
    reply, _ = await session.complete_structured(_make_call(condition, documents, step), _Entries)
    return _read(reply, len(documents))


def _read(reply: _Entries, count: int) -> Mapping[int, Decision]:
    times = Counter(entry.document for entry in reply.documents)
    return {
        entry.document - 1: Decision(sentence=entry.sentence, verdict=entry.verdict)
        for entry in reply.documents
        if 1 <= entry.document <= count and times[entry.document] == 1
    }


async def recall_decision(
    session: Session, condition: str, passages: Sequence[Hit], *, step: str = ""
) -> Decision | None:
    """Returns what `decide_documents` is known to say of a document alone; None if that is not cached."""

    def ask_nobody() -> Completion:
        raise _NotCachedError

    try:
        reply, _ = await session.complete_structured(_make_call(condition, [passages], step, ask_nobody), _Entries)
    except _NotCachedError:
        return None
    return _read(reply, 1).get(0)


async def keep_decision(
    session: Session, condition: str, passages: Sequence[Hit], decision: Decision, *, model: str
) -> None:
    """Caches a decision on one of several documents, as if the model had been asked about this document alone."""
    text = json.dumps({"documents": [{"document": 1, **decision.model_dump()}]})
    known = Completion(text=text, model=model, prompt_tokens=0, completion_tokens=0)
    await session.complete_structured(_make_call(condition, [passages], "", lambda: known), _Entries)


class _NotCachedError(Exception):
    """No cache has the answer, and no model is asked: no failure of a model, so that nothing else handles it."""


def _make_call(
    condition: str, documents: Sequence[Sequence[Hit]], step: str, given: Callable[[], Completion] | None = None
) -> ModelCall:
    shown = "\n\n".join(
        f'<document n="{number}">\n{format_hits(hits)}\n</document>' for number, hits in enumerate(documents, start=1)
    )
    return ModelCall(
        prompt=load_prompt(_PACKAGE, "decide_documents"),
        question=condition,
        role=ROLE,
        variables={"condition": neutral(condition), "documents": shown},
        chunks=frozenset(hit.chunk.id for hits in documents for hit in hits),
        step=step,
        cached=len(documents) == 1,
        given=given,
    )
