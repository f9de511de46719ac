"""The steps of a plan with their answers and numbered quotes, as a last call reads them that is shown no passages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from core.documents import Span
from core.ports.reasoning import Quote
from core.prompting.fences import fenced
from core.text.terms import split_words
from reasoning.actions.answers.answer import format_finding
from reasoning.citations.quotes import name_source
from reasoning.plans.known_answers import KnownAnswer

__all__ = ["MAX_QUOTE_WORDS", "QuotedSteps", "quote_steps"]

MAX_QUOTE_WORDS = 600
"""Words of all quotes together, without stop words. The first quote of each step is shown beyond it, too."""

_Place = tuple[str, Span]


@dataclass(frozen=True, kw_only=True)
class QuotedSteps:
    """`text` is the block of the prompt, `quotes` are those that it shows, numbered from 1. `left_out` is how many
    quotes were too much.
    """

    text: str
    quotes: tuple[Quote, ...]
    left_out: int

    @property
    def shown(self) -> tuple[str, ...]:
        """The evidence in the prompt: each quote under the name of its source.

        The questions and answers of the steps are no evidence: a question may hold the answer that is looked for.
        """
        return tuple(f"{name_source(quote)}\n{quote.text}" for quote in self.quotes)


def quote_steps(chain: Sequence[KnownAnswer]) -> QuotedSteps:
    """Returns the steps with their quotes, as many as `MAX_QUOTE_WORDS` allows: the first of each step, then the second
    of each, and so on. A quote of several steps is shown once, and later steps name its number.
    """
    chosen = _choose(chain)
    numbers: dict[_Place, int] = {}
    quotes, blocks = list[Quote](), list[str]()
    for one in chain:
        lines = [f"Question: {one.question}", format_finding(one)]
        for quote in one.quotes:
            place = _place(quote)
            if place in numbers:
                lines.append(f"[{numbers[place]}], as above")
            elif place in chosen:
                quotes.append(quote)
                numbers[place] = len(quotes)
                lines.append(f"[{len(quotes)}] {name_source(quote)}: {quote.text}")
        blocks.append(fenced("known", "\n".join(lines)))
    all_places = {_place(quote) for one in chain for quote in one.quotes}
    left_out = len(all_places - chosen)
    return QuotedSteps(text="\n".join(blocks), quotes=tuple(quotes), left_out=left_out)


def _choose(chain: Sequence[KnownAnswer]) -> set[_Place]:
    chosen: set[_Place] = set()
    words = 0
    for rank, quote in _by_rank(chain):
        place, count = _place(quote), len(split_words(quote.text))
        if place not in chosen and (rank == 0 or words + count <= MAX_QUOTE_WORDS):
            chosen.add(place)
            words += count
    return chosen


def _by_rank(chain: Sequence[KnownAnswer]) -> Iterator[tuple[int, Quote]]:
    """The first quote of each step, with 0, then the second of each, with 1, and so on."""
    for rank, quotes in enumerate(zip_longest(*(one.quotes for one in chain))):
        yield from ((rank, quote) for quote in quotes if quote is not None)


def _place(quote: Quote) -> _Place:
    return quote.hit.chunk.id, quote.span
