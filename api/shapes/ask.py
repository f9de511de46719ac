"""Questions and cited answers over the wire."""

from typing import Any, Literal

from pydantic import Field

from api.shapes.base import In, Out, SpanOut, Text
from api.shapes.search import HitDocumentOut, HitOut
from core.ports.reasoning import Answer
from core.ports.retrieval import MAX_K
from core.trace import Trace

__all__ = ["AnswerOut", "AskIn", "answer_out"]


class AskIn(In):
    """`reasoner` and `searcher` are `NAME[:key=value,…]`; unset, the server's defaults."""

    question: Text
    reasoner: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    searcher: str | None = None
    searcher_options: dict[str, Any] = Field(default_factory=dict)
    k: int = Field(default=5, ge=1, le=MAX_K)
    filter: dict[str, Any] | None = None
    stream: Literal[False] = Field(default=False, description="Answers are not streamed yet.")


class CitationOut(Out):
    """`quote` is verbatim in the chunk, at `source_span`; the answer uses it at `answer_span`."""

    marker: int
    chunk_id: str
    document: HitDocumentOut
    page: int | None
    quote: str
    answer_span: SpanOut
    source_span: SpanOut


class StepOut(Out):
    question: str
    hits: list[HitOut]
    answer: str


class AnswerOut(Out):
    """`abstained` says that nothing near enough was found."""

    answer: str
    citations: list[CitationOut]
    steps: list[StepOut]
    usage: dict[str, int] = Field(default_factory=dict)
    reasoner: str
    abstained: bool
    notes: list[str]
    timing: dict[str, float]


def answer_out(answer: Answer, trace: Trace) -> AnswerOut:
    return AnswerOut(
        answer=answer.text,
        citations=[CitationOut.model_validate(citation) for citation in answer.citations],
        steps=[StepOut.model_validate(step) for step in answer.steps],
        reasoner=answer.reasoner,
        abstained=answer.abstained,
        notes=trace.notes,
        timing=trace.timing,
    )
