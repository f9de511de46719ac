"""A made question: its kind, its quotes, and the form in which a dataset has it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.services.made_questions.material import Passage
from core.documents import Span
from core.ids import digest

__all__ = ["KINDS", "Kind", "MadeQuestion", "Quote"]


class Kind(StrEnum):
    """The kinds of questions that are made."""

    SINGLE = "single"
    TWO_HOP = "two_hop"
    COMPARISON = "comparison"
    CELL = "cell"
    COUNT = "count"
    UNANSWERABLE = "unanswerable"


KINDS = tuple(Kind)


@dataclass(frozen=True, kw_only=True, slots=True)
class Quote:
    """A sentence or row that supports a question: `place` is its place in the text of the passage."""

    passage: Passage
    place: Span

    @property
    def text(self) -> str:
        return " ".join(self.passage.text[self.place.start : self.place.end].split())

    def to_support(self) -> str | dict[str, Any]:
        """Returns the entry of `supporting`: a part of the document, or the whole document if it has one passage, or if
        no part of it can be named.
        """
        span = self.passage.span
        if span is None:
            return self.passage.key
        return {"id": self.passage.key, "start": span.start + self.place.start, "end": span.start + self.place.end}


@dataclass(frozen=True, kw_only=True)
class MadeQuestion:
    """A question. `answer` is '' if the corpus does not answer it. `hops` are the steps with their answers."""

    kind: Kind
    text: str
    answer: str = ""
    aliases: tuple[str, ...] = ()
    quotes: tuple[Quote, ...] = ()
    hops: tuple[tuple[str, str], ...] = ()
    about: str = ""
    """The key of the document that the question is about, if no quote names it."""

    @property
    def id(self) -> str:
        return f"{self.kind}-{digest('made question', [self.text])[:12]}"

    @property
    def keys(self) -> tuple[str, ...]:
        """The documents that the question is made from."""
        return tuple(dict.fromkeys(quote.passage.key for quote in self.quotes)) or (self.about,)

    def to_row(self) -> dict[str, Any]:
        """Returns the question in the form of a dataset."""
        row: dict[str, Any] = {"id": self.id, "question": self.text, "type": str(self.kind)}
        if not self.answer:
            return {**row, "answerable": False, "metadata": {"kind": str(self.kind), "about": self.about}}
        supports = [quote.to_support() for quote in self.quotes]
        row |= {"answer": self.answer, "aliases": list(self.aliases)}
        row["supporting"] = [support for at, support in enumerate(supports) if support not in supports[:at]]
        if sentences := [support for support in row["supporting"] if isinstance(support, dict)]:
            row["supporting_sentences"] = sentences
        if self.hops:
            row["hops"] = [{"question": question, "answer": answer} for question, answer in self.hops]
        row["metadata"] = {"kind": str(self.kind), "quotes": [quote.text for quote in self.quotes]}
        return row
