"""Quotes of `auto` with a small model, read as `extractive` reads them.

They are the answer itself, or what a judgement of the model stands on, or what is nearest where there is no answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.ports.reasoning import Citation, Quote, Support, Unsupported
from core.ports.retrieval import Hit, SearchResult
from reasoning.citations.quotes import passage_text
from reasoning.engine.answers import Conclusion
from reasoning.engine.reasoner import ReasoningBackends
from reasoning.engine.session import Session
from reasoning.strategies.auto.execution import LOOK
from reasoning.strategies.extractive.following import read_and_follow
from reasoning.strategies.extractive.quoting.answering import LEAST, decline, describe_quotes, is_answered, quote_units
from reasoning.strategies.extractive.quoting.reading import Reading, choose_depth
from reasoning.strategies.extractive.quoting.units import Unit
from reasoning.strategies.extractive.quoting.writing import choose, write_unit

MOST_QUOTES = 3
_REMEDY = "set up a larger language model"


@dataclass(frozen=True, kw_only=True)
class Quotes:
    """The hits that were read for quotes, and their reading."""

    hits: tuple[Hit, ...]
    reading: Reading

    def answer(self, unsupported: Unsupported) -> bool:
        """Returns whether they seem to answer; surely, if the request wants only what passages state."""
        return is_answered(self.reading, LEAST, sure=unsupported is Unsupported.ABSTAIN)

    def conclude(self, question: str, label: str) -> tuple[Conclusion, str]:
        """Returns the quotes as the answer, and the note on them; `label` says why they are quoted."""
        text, citations = quote_units(question, self.reading, MOST_QUOTES)
        shown = tuple(map(passage_text, self.hits))
        conclusion = Conclusion(text=text, support=Support.QUOTED, citations=citations, shown=shown)
        return conclusion, describe_quotes(self.reading, label, _REMEDY)

    def choose(self, most: int) -> list[Unit]:
        """Returns the nearest units, the best first."""
        return choose(self.reading.units, most)

    def decline(self) -> tuple[str, tuple[Citation, ...]]:
        """Returns the text of an answer that declines, with the nearest units, and their citations."""
        return decline(self.reading)


async def read_quotes(session: Session, backends: ReasoningBackends, question: str, found: SearchResult) -> Quotes:
    """Reads the first hits, and passages of the place that the best reference among them names."""
    asked = session.question

    async def search(text: str, documents: frozenset[str], k: int) -> Sequence[Hit]:
        return await session.search(text, k, step=LOOK, documents=documents, private=True)  # words of a passage

    first = replace(found, hits=found.hits[: asked.k or choose_depth(question)], facts=())
    within = None if asked.parts else search
    read, reading = await read_and_follow(backends, asked.corpus, question, first, session.trace, within)
    return Quotes(hits=read.hits, reading=reading)


def cut_to_units(question: str, units: Sequence[Unit]) -> tuple[Hit, ...]:
    """Returns the hits of the units, in their order, each with its units alone, written as quotes are."""
    of_hit: dict[str, list[Unit]] = {}
    for unit in units:
        of_hit.setdefault(unit.hit.chunk.id, []).append(unit)
    return tuple(_cut(question, there) for there in of_hit.values())


def _cut(question: str, units: Sequence[Unit]) -> Hit:
    hit = units[0].hit
    text = "\n".join(write_unit(question, unit) for unit in sorted(units, key=lambda unit: unit.span.start))
    return replace(hit, chunk=replace(hit.chunk, text=text))


def quote_units_of(units: Sequence[Unit]) -> tuple[Quote, ...]:
    """Returns the first units as quotes of their passages."""
    return tuple(Quote(hit=unit.hit, text=unit.text, span=unit.span) for unit in units[:MOST_QUOTES])
