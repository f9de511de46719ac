"""Quotes: words that stand in a passage, found there even where a model copied them a little differently."""

import re
from collections.abc import Sequence

from core.documents import Span
from core.ports.reasoning import Quote
from core.ports.retrieval import Hit
from core.prompting.fences import neutral
from core.text.answers import is_contained, normalise_answer
from core.text.sentences import split_sentences
from core.text.word_lists import STOP_WORDS

__all__ = ["best_quote", "located", "quote_of", "supported", "supported_by"]

_TOKEN = re.compile(r"\w+")
_LEAST = 3
"""Characters: what is shorter stands everywhere."""
_TELLING = 4
_NEVER_LITERAL = frozenset({"yes", "no", "true", "false"})
"""Answers that are judgements: the same word in a passage is chance."""


def quote_of(hit: Hit, words: str) -> Quote | None:
    """The quote where the hit's text holds these words, verbatim as the text has them; None where it does not.

    A few words say nothing to a reader: less than `_TELLING` grow to their sentence.
    """
    text = hit.chunk.text
    span = located(words, text)
    if span is None:
        return None
    if len(_TOKEN.findall(text[span.start : span.end])) < _TELLING:
        span = _sentence_around(span, text)
    return Quote(hit=hit, text=text[span.start : span.end], span=span)


def located(words: str, text: str) -> Span | None:
    """Where `text` holds `words`: as they are, or with other capitals, spaces and punctuation between the words."""
    stripped = words.strip().strip("\"'“”„»«‘’").strip()
    if len(stripped) < _LEAST:
        return None
    for seen in (text, neutral(text)):  # a model saw the text with its fences made harmless
        at = seen.find(stripped)
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
        return is_contained(answer, words), len(wanted & _words(words)), -span.start

    spans = [_stripped(text, start, end) for start, end in split_sentences(text)] or [Span(start=0, end=len(text))]
    best = max(spans, key=support)
    return Quote(hit=hit, text=text[best.start : best.end], span=best)


def supported(answer: str, hits: Sequence[Hit]) -> bool:
    """Whether a cited passage (its title or its text) literally holds the answer, both normalised as SQuAD does."""
    return any(is_contained(answer, f"{hit.document.title}\n{hit.chunk.text}") for hit in hits)


def supported_by(answer: str, quotes: Sequence[Quote]) -> bool:
    """Whether what is quoted (with the title of its passage) literally holds the answer; of several things, joined by
    semicolons, each. Stricter than `supported`: a word elsewhere in the passage is no support.
    """
    parts = [part for part in answer.split(";") if part.strip()]
    if not parts or normalise_answer(answer) in _NEVER_LITERAL:
        return False
    texts = [f"{quote.hit.document.title}\n{_around(quote)}" for quote in quotes]
    return all(any(is_contained(part, text) for text in texts) for part in parts)


def _around(quote: Quote) -> str:
    """The quote with the rest of the sentences that it is of."""
    span = _sentence_around(quote.span, quote.hit.chunk.text)
    return quote.hit.chunk.text[span.start : span.end]


def _sentence_around(span: Span, text: str) -> Span:
    touched = [(start, end) for start, end in split_sentences(text) if start < span.end and span.start < end]
    if not touched:
        return span
    whole = _stripped(text, touched[0][0], touched[-1][1])
    return Span(start=min(whole.start, span.start), end=max(whole.end, span.end))


def _words(text: str) -> set[str]:
    return set(normalise_answer(text).split()) - STOP_WORDS


def _stripped(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    begin = start + len(piece) - len(piece.lstrip())
    return Span(start=begin, end=begin + len(piece.strip()))
