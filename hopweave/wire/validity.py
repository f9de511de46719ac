"""The validity of documents: from when to when they are in force, what supersedes them, and who says so."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from hopweave.wire.base import Span, doc

__all__ = [
    "VALIDITY",
    "ClauseDifference",
    "DocumentDifferences",
    "RelationKind",
    "Validity",
    "ValidityRelation",
    "ValidityStatement",
    "WordChange",
]

VALIDITY = "When the document is in force, and who says so; null if nothing is known."

RelationKind: TypeAlias = Literal["supersedes", "superseded_by", "amends", "amended_by", "contradicts"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidityStatement:
    """A statement of a document with its source."""

    states: str = field(
        metadata=doc("`valid_from`, `valid_to`, `supersedes`, `superseded_by`, `amends`, `amended_by`, `contradicts`.")
    )
    value: str = field(metadata=doc("A day, or the name of a document."))
    part: str = field(
        metadata=doc("The part of the document that it is about, such as `Section 5`; empty: the whole document.")
    )
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
    problem: str = field(
        metadata=doc("Why it is a claim that retires nothing; empty if it counts. Of `contradicts`: which counts, why.")
    )
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


@dataclass(frozen=True, kw_only=True, slots=True)
class WordChange:
    """Words in the place of others; empty where words were only added, or only deleted."""

    old: str
    new: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ClauseDifference:
    """A clause that one of two documents lacks, or that has other words in the newer one."""

    kind: Literal["added", "removed", "changed"]
    clause: str = field(
        metadata=doc("Its number and heading, of the newer document if that has it; empty before the first clause.")
    )
    old: str | None = field(metadata=doc("The clause without number and heading; null if it was added."))
    new: str | None = field(metadata=doc("Likewise; null if it was removed."))
    words: tuple[WordChange, ...] = field(metadata=doc("The words that changed; whole sentences of long clauses."))


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentDifferences:
    """What changed from one document to another one, clause by clause."""

    old_id: str
    old_key: str
    new_id: str
    new_key: str
    unchanged: int = field(metadata=doc("How many clauses are the same but for numbers and white space."))
    cut: bool = field(
        metadata=doc("Whether a text has more than the 500,000 characters, or 2,000 clauses, that are compared.")
    )
    clauses: tuple[ClauseDifference, ...]
