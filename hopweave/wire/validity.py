"""The validity of documents: from when to when they are in force, what supersedes them, and who says so."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from hopweave.wire.base import Span, doc

__all__ = ["VALIDITY", "RelationKind", "Validity", "ValidityRelation", "ValidityStatement"]

VALIDITY = "When the document is in force, and who says so; null if nothing is known."

RelationKind: TypeAlias = Literal["supersedes", "superseded_by", "amends", "amended_by"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidityStatement:
    """A statement of a document with its source."""

    states: str = field(
        metadata=doc("`valid_from`, `valid_to`, `supersedes`, `superseded_by`, `amends` or `amended_by`.")
    )
    value: str = field(metadata=doc("A day, or the name of a document."))
    since: str = field(metadata=doc("The day from which the sentence says so; empty if it names none."))
    source: Literal["field", "sentence", "file_name"]
    text: str = field(metadata=doc("The sentence verbatim, or the file's name; empty for a field."))
    span: Span | None = field(metadata=doc("Where the sentence stands in the text of its page, or of the document."))
    page: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidityRelation:
    """What a document is to another one, by the statement of one of them."""

    kind: RelationKind
    id: str = field(metadata=doc("The other document, with its key and title."))
    key: str
    title: str
    since: str | None = field(metadata=doc("The day from which it holds; null if it is not known."))
    problem: str = field(metadata=doc("Why it is a claim that retires nothing; empty if it counts."))
    statement: ValidityStatement


@dataclass(frozen=True, kw_only=True, slots=True)
class Validity:
    """The first and the last day, by own statements and by documents that supersede this one; null: there is none."""

    valid_from: str | None
    valid_to: str | None
    authority: str = field(metadata=doc("The field `authority` of the metadata; empty without one."))
    statements: tuple[ValidityStatement, ...]
    relations: tuple[ValidityRelation, ...]
    unresolved: tuple[str, ...] = field(metadata=doc("Names of documents that none has, or several have."))
