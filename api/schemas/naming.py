"""The names that schemas of values of `hopweave.wire` have in the OpenAPI description.

Python's names are the shorter ones: a `Hit` is described as `HitOut`. Clients that are generated from the description
have its names, so that they stay as they are.
"""

from collections.abc import Mapping
from dataclasses import is_dataclass
from enum import StrEnum
from typing import Any

from fastapi.openapi.models import Schema
from pydantic import TypeAdapter

from core.corpora import Fine
from core.documents import RevisionState
from core.graph import Fit
from core.jobs import JobKind, JobState
from core.ports.reasoning import Support
from core.ports.retrieval import NodeKind
from core.questions import QuestionState
from core.verification import DocumentRole
from hopweave.wire import answers, base, corpora, documents, entities, events, jobs, questions, search
from retrieval.exploration import EdgeKind, Match

_Schema = dict[str, Any]

_OTHER_NAMES = {
    "AccessChange": "AccessChangedOut",
    "Deletion": "DeletedOut",
    "NoteEvent": "TextOut",
    "PageText": "PageOut",
    "PlanEvent": "PlanOut",
    "Rejection": "RejectedOut",
    "ReviewEvent": "ReviewOut",
    "SearchEvent": "SearchedOut",
    "SearchResult": "SearchOut",
    "StepEvent": "StepDoneOut",
    "StoredQuestion": "QuestionOut",
    "TokenEvent": "TextOut",
    "VerificationEvent": "VerdictEventOut",
    "VerifyingEvent": "VerifyingOut",
}
_NAMES = {
    name: _OTHER_NAMES.get(name, f"{name}Out")
    for module in (base, search, answers, events, questions, corpora, jobs, documents, entities)
    for name in module.__all__
    if is_dataclass(getattr(module, name))
}
_UNDESCRIBED = {
    "Chunk",
    "Corpus",
    "CorpusDetail",
    "Counts",
    "DocumentName",
    "EntitySynonym",
    "FoundEntity",
    "HitDocument",
    "Mentioning",
    "NamedEntity",
    "NoteEvent",
    "Replacement",
    "TextChange",
    "TokenEvent",
    "VerifiedDocument",
    "Way",
}
"""Values whose docstrings are for Python alone."""
_ENUMS: dict[tuple[str, ...], type[StrEnum]] = {
    tuple(kind): kind
    for kind in (
        DocumentRole,
        EdgeKind,
        Fit,
        Fine,
        JobKind,
        JobState,
        Match,
        NodeKind,
        QuestionState,
        RevisionState,
        Support,
    )
}
"""Where a value has a `Literal`, the description refers to the enumeration in `core` that has the same members."""
_PREFIX = "#/components/schemas/"


def schema_of(value: type[Any]) -> tuple[_Schema, dict[str, _Schema]]:
    """Returns the schema of a value as it is described, and by name all schemas to which it may refer."""
    schema = TypeAdapter(value).json_schema(ref_template=_PREFIX + "{model}")
    parts = _name({**schema.pop("$defs", {}), value.__name__: schema})
    return parts[_NAMES[value.__name__]], parts | {kind.__name__: _describe(kind) for kind in _ENUMS.values()}


def name_schemas(schemas: Mapping[str, _Schema]) -> dict[str, _Schema]:
    """Returns the schemas of values and enumerations by their names in the description."""
    enums = {kind.__name__: _order_keys(_describe(kind)) for kind in _ENUMS.values()}
    return dict(sorted((enums | _name(schemas)).items()))


def _name(schemas: Mapping[str, _Schema]) -> dict[str, _Schema]:
    named = {}
    for name, schema in schemas.items():
        if name not in _NAMES:
            named[name] = refer(schema)
            continue
        described = _refer_to_enums(refer({**schema, "title": _NAMES[name]}))
        if name in _UNDESCRIBED:
            del described["description"]
        named[_NAMES[name]] = described
    return named


def refer(part: Any) -> Any:
    """Returns a part of the description with references to the names that it has for values."""
    if isinstance(part, list):
        return [refer(item) for item in part]
    if not isinstance(part, dict):
        return part
    changed = {key: refer(value) for key, value in part.items()}
    target = changed.get("$ref")
    if isinstance(target, str) and (name := target.removeprefix(_PREFIX)) in _NAMES:
        changed["$ref"] = _PREFIX + _NAMES[name]
    return changed


def _refer_to_enums(part: Any) -> Any:
    if isinstance(part, list):
        return [_refer_to_enums(item) for item in part]
    if not isinstance(part, dict):
        return part
    members = part.get("enum")
    if isinstance(members, list) and tuple(members) in _ENUMS:
        others = {key: value for key, value in part.items() if key not in {"enum", "title", "type"}}
        return {"$ref": _PREFIX + _ENUMS[tuple(members)].__name__, **others}
    changed = {key: _refer_to_enums(value) for key, value in part.items()}
    if changed.get("anyOf") != part.get("anyOf"):
        changed.pop("title", None)  # pydantic gives none to a reference that may be null
    return changed


def _describe(kind: type[StrEnum]) -> _Schema:
    return TypeAdapter(kind).json_schema()


def _order_keys(schema: _Schema) -> _Schema:
    """Returns the schema with its keys in FastAPI's order."""
    return Schema.model_validate(schema).model_dump(mode="json", by_alias=True, exclude_none=True)
