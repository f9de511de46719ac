"""Quotes: words that stand in a passage, found there even where a model copied them a little differently."""

import re
from collections.abc import Sequence

from core.answers import contained, normalise_answer
from core.documents import Span
from core.fences import neutral
from core.ports.reasoning import Quote
from core.ports.retrieval import Hit
from core.sentences import sentences
from core.terms import STOP_WORDS

__all__ = ["best_quote", "located", "quote_of", "supported"]

_TOKEN = re.compile(r"\w+")
_LEAST = 3
"""Characters: what is shorter stands everywhere."""


def quote_of(hit: Hit, words: str) -> Quote | None:
    """The quote where the hit's text holds these words, verbatim as the text has them; None where it does not."""
    span = located(words, hit.chunk.text)
    return None if span is None else Quote(hit=hit, text=hit.chunk.text[span.start : span.end], span=span)


def located(words: str, text: str) -> Span | None:
    """Where `text` holds `words`: as they are, or with other capitals, spaces and punctuation between the words."""
    stripped = words.strip().strip("\"'“”„»«‘’").strip()
    if len(stripped) < _LEAST:
        return None
    at = neutral(text).find(stripped)  # a model saw the text with its fences made harmless
    if at >= 0:
        return Span(start=at, end=at + len(stripped))
    wanted = [token.casefold() for token in _TOKEN.findall(stripped)]
    there = list(_TOKEN.finditer(text))
    folded = [token.group().casefold() for token in there]
    for start in range(len(folded) - len(wanted) + 1 if wanted else 0):
        if folded[start : start + len(wanted)] == wanted:
            return Span(start=there[start].start(), end=there[start + len(wanted) - 1].end())
    return None


def best_quote(hit: Hit, answer: str, question: str = "") -> Quote:
    """The sentence of a hit that supports an answer best: it holds the answer, and shares words with the question.

    Where a strategy cites a passage as a whole, this is what its citation quotes.
    """
    text = hit.chunk.text
    wanted = _words(f"{answer} {question}")

    def support(span: Span) -> tuple[bool, int, int]:
        words = text[span.start : span.end]
        return contained(answer, words), len(wanted & _words(words)), -span.start

    spans = [_stripped(text, start, end) for start, end in sentences(text)] or [Span(start=0, end=len(text))]
    best = max(spans, key=support)
    return Quote(hit=hit, text=text[best.start : best.end], span=best)


def supported(answer: str, hits: Sequence[Hit]) -> bool:
    """Whether a cited passage (its title or its text) literally holds the answer, both normalised as SQuAD does."""
    return any(contained(answer, f"{hit.document.title}\n{hit.chunk.text}") for hit in hits)


def _words(text: str) -> set[str]:
    return set(normalise_answer(text).split()) - STOP_WORDS


def _stripped(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    begin = start + len(piece) - len(piece.lstrip())
    return Span(start=begin, end=begin + len(piece.strip()))
