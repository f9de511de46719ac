"""The verification of an answer: what each of its documents is to it."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from hopweave._values.usage import Usage

__all__ = [
    "AnswerWithout",
    "DocumentRole",
    "Replacement",
    "Verdict",
    "Verification",
    "VerificationCost",
    "VerifiedDocument",
]

DocumentRole: TypeAlias = Literal["needed", "redundant", "contradicts", "unclear"]


@dataclass(frozen=True, kw_only=True, slots=True)
class VerificationCost:
    """What verifying an answer would cost, estimated: the documents that are masked, the calls and tokens for all."""

    documents: int
    calls: int
    tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifiedDocument:
    """A document of the answer."""

    id: str
    key: str
    title: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Replacement:
    """A document that the answer cites in place of a redundant one."""

    id: str
    key: str
    title: str
    corpus: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerWithout:
    """The answer to the question without a document, without markers."""

    answer: str
    support: Literal["stated", "quoted", "inferred", "memory", "none"]
    abstained: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What a document is to the answer, and `why` in a sentence.

    `needed`: without it there is no answer, or none that passages state as before. `redundant`: the same answer stands
    without it, on `replaced_by`. `contradicts`: without it, passages state another answer. `unclear`: it was not found
    out. `markers` are those of its citations; there are none if only a step of the answer quotes it. `without` is None
    if the question was not answered again.
    """

    document: VerifiedDocument
    corpus: str
    role: DocumentRole
    markers: tuple[int, ...]
    without: AnswerWithout | None
    replaced_by: tuple[Replacement, ...]
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Verification:
    """The verdicts. `together` are groups of ids of documents, each of which is redundant, while one of the group is
    needed. `usage` is that of the verification alone.
    """

    documents: tuple[Verdict, ...]
    together: tuple[tuple[str, ...], ...]
    usage: Usage
    notes: tuple[str, ...]
