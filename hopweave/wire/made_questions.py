"""Questions with known supports that are made of a corpus, and how well searchers find the supports."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from hopweave.wire.base import doc

__all__ = [
    "MadeKind",
    "MadeQuestion",
    "MadeQuestionStep",
    "MadeQuestions",
    "Measurement",
    "PossibleQuestions",
    "SearcherScores",
    "SupportingPart",
]

MadeKind: TypeAlias = Literal["single", "two_hop", "comparison", "cell", "clause", "count", "unanswerable"]


@dataclass(frozen=True, kw_only=True, slots=True)
class SupportingPart:
    """A part of the document with the key `id`, in Unicode code points of its text; `end` is excluded."""

    id: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class MadeQuestionStep:
    question: str
    answer: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MadeQuestion:
    """A question with a known answer and supports. As JSON it can be a line of the `questions.jsonl` of a dataset."""

    id: str
    question: str
    type: MadeKind
    answer: str = field(metadata=doc("Empty if the corpus does not answer the question."))
    aliases: tuple[str, ...]
    answerable: bool
    supporting: tuple[str | SupportingPart, ...] = field(
        metadata=doc("What the question needs: keys of documents, or parts of them.")
    )
    quotes: tuple[str, ...] = field(metadata=doc("The sentences or rows that state the answer."))
    documents: tuple[str, ...] = field(metadata=doc("The keys of the documents that it is made from."))
    hops: tuple[MadeQuestionStep, ...] = field(metadata=doc("The steps to the answer, if there are several."))


@dataclass(frozen=True, kw_only=True, slots=True)
class PossibleQuestions:
    """How many questions of a kind were made, and how many could be made."""

    kind: MadeKind
    made: int
    possible: int


@dataclass(frozen=True, kw_only=True, slots=True)
class MadeQuestions:
    """Questions of the documents that the caller sees. The server keeps none of them."""

    questions: tuple[MadeQuestion, ...]
    kinds: tuple[PossibleQuestions, ...]
    notes: tuple[str, ...] = field(metadata=doc("Why there are not more of a kind, and what was left out."))
    generation: int = field(metadata=doc("The generation of the corpus before it was read."))


@dataclass(frozen=True, kw_only=True, slots=True)
class SearcherScores:
    """Means over the questions that were asked: `recall@2`, `recall@5`, `recall@10`, `all_recall@5`, `mrr`."""

    searcher: str
    scores: Mapping[str, float] = field(metadata=doc("From 0 to 1; empty if no question was asked."))


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """How well searchers find the supports of questions."""

    generation: int = field(metadata=doc("The generation of the corpus before it was searched."))
    asked: int = field(metadata=doc("How many questions were asked."))
    gone: tuple[str, ...] = field(
        metadata=doc("The ids of questions that were not asked: a document of them is not there any more.")
    )
    searchers: tuple[SearcherScores, ...]
