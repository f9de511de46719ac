"""The validity of documents in responses, and the day that a request may name."""

from typing import Annotated

from pydantic import Field

from api.schemas.base import Text
from api.schemas.values import fill, fill_all
from app.services.validity import Differences
from core.validity import Relation, Validity
from core.validity.differences import Change
from hopweave.wire import validity as wire

AS_OF = (
    "The day on which documents have to be in force, such as `2024-05-01`; `any`: all documents are searched. If "
    "unset, today (UTC). Documents that state nothing on their validity are always in force."
)
_DAY = r"^(?:any|[0-9]{4}-[0-9]{2}-[0-9]{2})$"

AsOf = Annotated[Text | None, Field(description=AS_OF, pattern=_DAY, json_schema_extra={"examples": ["2024-05-01"]})]


def convert_validity(validity: Validity | None) -> wire.Validity | None:
    if validity is None:
        return None
    return wire.Validity(
        valid_from=None if validity.valid_from is None else validity.valid_from.isoformat(),
        valid_to=None if validity.valid_to is None else validity.valid_to.isoformat(),
        authority=validity.authority,
        statements=fill_all(wire.ValidityStatement, (*validity.statements, *validity.parts)),
        relations=tuple(map(_convert_relation, validity.relations)),
        unresolved=validity.unresolved,
    )


def _convert_relation(relation: Relation) -> wire.ValidityRelation:
    document = relation.document
    return fill(
        wire.ValidityRelation,
        relation,
        id=document.id,
        key=document.key,
        title=document.title,
        since=None if relation.since is None else relation.since.isoformat(),
        statement=fill(wire.ValidityStatement, relation.statement),
    )


def convert_differences(found: Differences) -> wire.DocumentDifferences:
    return wire.DocumentDifferences(
        old_id=found.old.id,
        old_key=found.old.key,
        new_id=found.new.id,
        new_key=found.new.key,
        unchanged=found.unchanged,
        cut=found.cut,
        clauses=tuple(map(_convert_change, found.changes)),
    )


def _convert_change(change: Change) -> wire.ClauseDifference:
    named = change.new or change.old
    return wire.ClauseDifference(
        kind=change.kind,
        clause="" if named is None else named.name,
        old=None if change.old is None else change.old.text,
        new=None if change.new is None else change.new.text,
        words=fill_all(wire.WordChange, change.words),
    )
