"""The verification of an answer in responses and events: what each of its documents is to it."""

from typing import Any, Self

from pydantic import Field

from api.schemas.base import Out, UsageOut
from core.ports.reasoning import Support
from core.verification import DocumentRole, Located, Verdict, Verification, VerifyingEvent

__all__ = ["VerdictEventOut", "VerdictOut", "VerificationCostOut", "VerificationOut", "VerifyingOut"]

_COST = "What masking each document costs, estimated from what the answer took."


class VerificationCostOut(Out):
    """The documents that are masked, and the calls and tokens for all of them."""

    documents: int
    calls: int
    tokens: int


class VerifiedDocumentOut(Out):
    id: str
    key: str
    title: str


class ReplacementOut(VerifiedDocumentOut):
    corpus: str = Field(description="The name of the corpus.")

    @classmethod
    def from_located(cls, located: Located) -> Self:
        document = located.document
        return cls(id=document.id, key=document.key, title=document.title, corpus=located.corpus)


class AnswerWithoutOut(Out):
    """The answer without the document, without markers."""

    answer: str
    support: Support
    abstained: bool


class VerdictOut(Out):
    """What a document is to the answer."""

    document: VerifiedDocumentOut
    corpus: str = Field(description="The name of the corpus.")
    role: DocumentRole = Field(
        description="`needed`: without it there is no answer, or none that passages state as before. `redundant`: the "
        "same answer stands without it. `contradicts`: without it, passages state another answer. `unclear`: it was "
        "not found out."
    )
    markers: list[int] = Field(
        description="The markers of its citations in the answer; none if only a step of the answer quotes it."
    )
    without: AnswerWithoutOut | None = Field(description="Null if the question was not answered again.")
    replaced_by: list[ReplacementOut] = Field(
        description="The documents that the answer cites in place of a redundant one."
    )
    why: str

    @classmethod
    def from_verdict(cls, verdict: Verdict) -> Self:
        return cls.model_validate(_list_fields(verdict))


class VerificationOut(Out):
    """`usage` is that of the verification alone."""

    documents: list[VerdictOut]
    together: list[list[str]] = Field(
        description="Groups of ids of documents, each of which is redundant, while one of the group is needed. They "
        "are among `documents` and their `replaced_by`."
    )
    usage: UsageOut
    notes: list[str]

    @classmethod
    def from_verification(cls, verification: Verification) -> Self:
        return cls(
            documents=[VerdictOut.from_verdict(verdict) for verdict in verification.documents],
            together=[[one.document.id for one in group] for group in verification.together],
            usage=UsageOut.from_usage(verification.usage),
            notes=list(verification.notes),
        )


class VerifyingOut(Out):
    """The verification of an answer begins: the answer that it is about, and what it is expected to cost."""

    step: str = Field(description="Empty: the event belongs to the question as a whole.")
    answer: str = Field(description="The answer without markers. The whole answer comes with the event `answer`.")
    support: Support
    cost: VerificationCostOut = Field(description=_COST)

    @classmethod
    def from_event(cls, event: VerifyingEvent) -> Self:
        cost = VerificationCostOut.model_validate(event.cost)
        return cls(step=event.step, answer=event.answer, support=event.support, cost=cost)


class VerdictEventOut(VerdictOut):
    """A document of the answer has a verdict. The answer replaces it, and may name more that replaces the document."""

    step: str = Field(description="Empty: the event belongs to the question as a whole.")

    @classmethod
    def from_verdict(cls, verdict: Verdict) -> Self:
        return cls.model_validate({"step": "", **_list_fields(verdict)})


def _list_fields(verdict: Verdict) -> dict[str, Any]:
    return {
        "document": VerifiedDocumentOut.model_validate(verdict.located.document),
        "corpus": verdict.located.corpus,
        "role": verdict.role,
        "markers": list(verdict.markers),
        "without": None if verdict.without is None else AnswerWithoutOut.model_validate(verdict.without),
        "replaced_by": [ReplacementOut.from_located(one) for one in verdict.replaced_by],
        "why": verdict.why,
    }
