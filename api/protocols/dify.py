"""Dify's protocol, the external knowledge API: `POST /dify/retrieval` returns passages of a corpus.

First come Dify's conditions on metadata as a filter of documents.
"""

from collections.abc import Callable
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import ConfigDict, Field

from api.access.keys import READ
from api.deps import ContainerDep, json_response, run_while_connected
from api.protocols.errors import describe_errors
from api.schemas.ask import BudgetIn
from api.schemas.base import NOT_BLANK, LenientIn, Number, Out, Text, Whole
from app.services import questions
from app.services.asked_corpora import open_corpora
from core.errors import InvalidFilter
from core.filters import MAX_TERMS
from core.passage_context import describe_hit, find_page_label
from core.ports.retrieval import MAX_K, Hit
from core.trace import Trace

_Value = Text | float | bool | list[Text | float | bool] | None


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _as_number(value: Any) -> Any:
    """Returns a number that Dify sends as a text; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        number = float(value)
    except ValueError as error:
        raise InvalidFilter(f"a condition compares with {value!r}, which is no number") from error
    return int(number) if number.is_integer() else number


_OPERATORS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "contains": lambda value: {"$contains": value},
    "start with": lambda value: {"$prefix": value},
    "is": lambda value: {"$eq": value},
    "is not": lambda value: {"$ne": value},
    "in": lambda value: {"$in": _as_list(value)},
    "not in": lambda value: {"$nin": _as_list(value)},
    "empty": lambda _: {"$exists": False},
    "not empty": lambda _: {"$exists": True},
    "=": lambda value: {"$eq": _as_number(value)},
    "≠": lambda value: {"$ne": _as_number(value)},
    ">": lambda value: {"$gt": _as_number(value)},
    "<": lambda value: {"$lt": _as_number(value)},
    "≥": lambda value: {"$gte": _as_number(value)},
    "≤": lambda value: {"$lte": _as_number(value)},
    "before": lambda value: {"$lt": value},
    "after": lambda value: {"$gt": value},
}
_NAMES = {"title": "$title", "key": "$key", "document_name": "$title"}
"""Fields of documents that are no metadata here."""

_FIELD: dict[str, Any] = {"type": "string", "pattern": "^([^$]|$)"}
_SCALAR: dict[str, Any] = {"type": ["string", "number", "boolean", "null"]}
_DIGITS: dict[str, Any] = {"type": "string", "pattern": r"^[+-]?[0-9]+(?:\.[0-9]+)?$"}
_VALUES: dict[tuple[str, ...], dict[str, Any]] = {
    ("contains", "not contains", "is", "is not"): _SCALAR,
    ("start with",): {"type": "string"},
    ("in", "not in"): {"anyOf": [_SCALAR, {"type": "array", "items": _SCALAR}]},
    ("empty", "not empty"): {},
    ("=", "≠"): {"anyOf": [{"type": ["number", "boolean", "null"]}, _DIGITS]},
    (">", "<", "≥", "≤"): {"anyOf": [{"type": "number"}, _DIGITS]},
    ("before", "after"): {"type": ["string", "number"]},
}
_NEED_VALUE = {"start with", ">", "<", "≥", "≤", "before", "after"}
_DESCRIBED: dict[str, Any] = {
    "anyOf": [
        {
            "required": ["value"] if _NEED_VALUE.issuperset(operators) else [],
            "properties": {
                "comparison_operator": {"enum": list(operators)},
                "name": {"anyOf": [_FIELD, {"type": "array", "items": _FIELD, "minItems": 1}]},
                "value": value,
            },
        }
        for operators, value in _VALUES.items()
    ]
}
"""What each operator compares with. `core.filters` checks it, whose message names the field."""


class ConditionIn(LenientIn):
    """A condition on a field, or on one of several. `end with` is refused: filters have no such operator."""

    model_config = ConfigDict(json_schema_extra=_DESCRIBED)

    name: Text | list[Text]
    comparison_operator: Literal[
        "contains", "not contains", "start with", "is", "is not", "in", "not in", "empty", "not empty",
        "=", "≠", ">", "<", "≥", "≤", "before", "after",
    ]  # fmt: skip
    value: _Value = None


class ConditionsIn(LenientIn):
    logical_operator: Literal["and", "or"] | None = None
    conditions: list[ConditionIn] | None = Field(default=None, max_length=MAX_TERMS)


def make_filter(given: ConditionsIn | None) -> dict[str, Any] | None:
    """Returns the filter of a request; None without conditions. Raises `InvalidFilter` for a value of a wrong type."""
    parts = [_make_part(one) for one in (given.conditions if given is not None else None) or ()]
    if not parts:
        return None
    return {"$or" if given is not None and given.logical_operator == "or" else "$and": parts}


def _make_part(condition: ConditionIn) -> dict[str, Any]:
    names = [condition.name] if isinstance(condition.name, str) else condition.name
    if not names:
        raise InvalidFilter("a condition has no `name`; name the field of the metadata")
    if condition.comparison_operator == "not contains":
        test, negated = {"$contains": condition.value}, True
    else:
        test, negated = _OPERATORS[condition.comparison_operator](condition.value), False
    fields = [{_NAMES.get(name, name): test} for name in names]
    part = fields[0] if len(fields) == 1 else {"$or": fields}
    return {"$not": part} if negated else part


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
