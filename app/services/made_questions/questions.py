"""A made question: its kind, its quotes, and its supports."""

from dataclasses import dataclass
from enum import StrEnum

from app.services.made_questions.material import Passage
from core.documents import Span
from core.ids import digest
from retrieval.supports import Support


class Kind(StrEnum):
    """The kinds of questions that are made."""

    SINGLE = "single"
    TWO_HOP = "two_hop"
    COMPARISON = "comparison"
    CELL = "cell"
    CLAUSE = "clause"
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

    def to_support(self) -> Support:
        """Returns the part of the document, or the whole document if it has one passage, or if no part can be named."""
        span = self.passage.span
        if span is None:
            return Support(key=self.passage.key)
        place = Span(start=span.start + self.place.start, end=span.start + self.place.end)
        return Support(key=self.passage.key, span=place)


@dataclass(frozen=True, kw_only=True)
class SupportedQuestion:
    """A question with the passages that support it: at least one."""

    id: str
    text: str
    supporting: frozenset[Support]


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

    @property
    def supports(self) -> tuple[Support, ...]:
        """What supports the answer, each once; nothing if the corpus does not answer the question."""
        return tuple(dict.fromkeys(quote.to_support() for quote in self.quotes)) if self.answer else ()

    def to_supported(self) -> SupportedQuestion:
        return SupportedQuestion(id=self.id, text=self.text, supporting=frozenset(self.supports))
