"""`POST /dify/retrieval`: passages of a corpus for Dify, as its external knowledge API asks for them."""

from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import Field

from api.access.scopes import READ
from api.connection import run_while_connected
from api.deps import ContainerDep, json_response
from api.protocols.dify.conditions import ConditionsIn, make_filter
from api.protocols.errors import describe_errors
from api.schemas.ask import BudgetIn
from api.schemas.base import NOT_BLANK, LenientIn, Number, Out, Text, Whole
from app.services import questions
from app.services.scope import open_corpora
from core.passage_context import describe_hit, find_page_label
from core.ports.retrieval import MAX_K, Hit
from core.trace import Trace

__all__ = ["RetrievalIn", "router"]

router = APIRouter(prefix="/dify", tags=["dify"], responses=describe_errors("DifyError"))


class RetrievalSettingIn(LenientIn):
    top_k: Whole = Field(ge=1, le=MAX_K)
    score_threshold: Number | None = Field(default=None, ge=0, le=1, description="The least cosine; 0 is none.")


class RetrievalIn(LenientIn):
    """`knowledge_id` is the name of a corpus, or of several with commas between.

    Fields that newer versions of Dify send are ignored.
    """

    knowledge_id: Text
    query: Text = Field(json_schema_extra=NOT_BLANK)
    retrieval_setting: RetrievalSettingIn
    metadata_condition: ConditionsIn | None = None


class RecordOut(Out):
    """A passage. Scores never rise from one record to the next, so that sorting by them keeps the order."""

    content: str
    score: float
    title: str
    metadata: dict[str, Any] = Field(
        description="That of the document, with `corpus`, `document_id`, `key`, `chunk_id`, `page`, `page_label`, "
        "`heading` and `part_of`: what the passage is part of, on one line."
    )


class RecordListOut(Out):
    records: list[RecordOut]


@router.post("/retrieval", dependencies=[READ], summary="Find passages for Dify", response_model=RecordListOut)
async def retrieve_for_dify(body: RetrievalIn, container: ContainerDep, http: Request) -> Response:
    corpora = await open_corpora(container, [name.strip() for name in body.knowledge_id.split(",")])
    request = questions.SearchRequest(
        query=body.query,
        k=body.retrieval_setting.top_k,
        filter=make_filter(body.metadata_condition),
        min_similarity=body.retrieval_setting.score_threshold or None,
    )
    trace = Trace(budget=BudgetIn().within(container.settings.budget))
    found = await run_while_connected(http, questions.search(container, corpora, request, trace))
    scores = _score(found.hits)
    return json_response(RecordListOut(records=[_record(*pair) for pair in zip(found.hits, scores, strict=True)]))


def _record(hit: Hit, score: float) -> RecordOut:
    chunk, document = hit.chunk, hit.document
    metadata = {
        **document.metadata,
        "corpus": hit.corpus,
        "document_id": document.id,
        "key": document.key,
        "chunk_id": chunk.id,
        "page": chunk.page,
        "page_label": find_page_label(document.metadata, chunk.page),
        "heading": chunk.heading,
        "part_of": describe_hit(hit),
    }
    return RecordOut(content=chunk.text, score=score, title=document.title or document.key, metadata=metadata)


def _score(hits: tuple[Hit, ...]) -> list[float]:
    """Returns a score from 0 to 1 for each hit: its cosine, or a greater one of a hit that is ranked behind it.

    Without cosines, as from `sparse`, it is the searcher's score in parts of the best one.
    """
    values = [hit.signals.dense for hit in hits]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        best = max((hit.score for hit in hits), default=0.0)
        known = [hit.score / best if best > 0 else 0.0 for hit in hits]
    scores: list[float] = []
    highest = 0.0
    for value in reversed(known):
        highest = max(highest, min(1.0, value))
        scores.append(highest)
    return scores[::-1]
