"""The verification of an answer: on which of its documents the answer hangs. Open it to see what a verdict consists of.

A document is masked, and the question is answered again over what is left. `reasoning.verification` decides the roles.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from core.documents import DocumentRef
from core.ports.reasoning import Support
from core.trace import Event, Usage


class DocumentRole(StrEnum):
    """What a document is to an answer.

    `needed`: without it there is no answer, or none that passages state as before. `redundant`: the same answer stands
    without it. `contradicts`: without it, passages state another answer, so the corpus says two things. `unclear`: it
    was not found out.
    """

    NEEDED = "needed"
    REDUNDANT = "redundant"
    CONTRADICTS = "contradicts"
    UNCLEAR = "unclear"


@dataclass(frozen=True)
class Located:
    """A document of the corpus with this name. Ids do not contain the corpus."""

    document: DocumentRef
    corpus: str

    @property
    def key(self) -> tuple[str, str]:
        """The corpus' name and the document's id."""
        return self.corpus, self.document.id


@dataclass(frozen=True, kw_only=True)
class VerificationCost:
    """What a verification costs, estimated: the documents that are masked, and the calls and tokens for all of them."""

    documents: int
    calls: int
    tokens: int


@dataclass(frozen=True, kw_only=True)
class AnswerWithout:
    """The answer over what is left when a document is masked, without markers."""

    answer: str
    support: Support
    abstained: bool


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The role of a document, and `why` in a sentence. `markers` are the markers of its citations in the answer; there
    are none if only a step of the answer quotes it.

    `without` is None if the question was not answered again. `replaced_by` are the documents that a redundant document
    can be replaced by.
    """

    located: Located
    role: DocumentRole
    why: str
    markers: tuple[int, ...] = ()
    without: AnswerWithout | None = None
    replaced_by: tuple[Located, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Verification:
    """The verdicts on the documents of an answer, in the order of their citations.

    `together` are groups of documents: each document is redundant, and one of the group is needed. `usage` is the usage
    of the verification alone. `retrieved` are the documents (name of the corpus, id) that the answers without a
    document may be made of.
    """

    documents: tuple[Verdict, ...] = ()
    together: tuple[tuple[Located, ...], ...] = ()
    usage: Usage
    notes: tuple[str, ...] = ()
    retrieved: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, kw_only=True)
class VerifyingEvent:
    """A verification begins: the answer that it is about, and what it is expected to cost."""

    kind: ClassVar[str] = "verifying"
    answer: str
    support: Support
    cost: VerificationCost
    step: str = ""


@dataclass(frozen=True, kw_only=True)
class VerdictEvent:
    """A document of the answer has a verdict. The verification may name more documents that replace it."""

    kind: ClassVar[str] = "verification"
    verdict: Verdict
    step: str = ""


@dataclass(frozen=True, kw_only=True)
class VerifiedEvent:
    """The verification is done."""

    kind: ClassVar[str] = "verified"
    verification: Verification
    step: str = ""


def find_verification(events: Iterable[Event]) -> Verification | None:
    """Returns the verification among the events of a trace; None if the answer was not verified."""
    return next((event.verification for event in events if isinstance(event, VerifiedEvent)), None)
