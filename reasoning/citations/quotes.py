"""Quotes of passages: copied by a model, or selected by code where the model copied nothing; and their checks."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from core.documents import Span
from core.passage_context import describe_hit, split_units
from core.ports.reasoning import Quote
from core.ports.retrieval import Hit
from core.text.answers import is_contained, normalise_answer
from core.text.terms import split_words
from reasoning.citations.location import locate

__all__ = ["find_quote", "is_quoted", "is_supported", "name_source", "passage_text", "select_quote"]

_TOKEN = re.compile(r"\w+")
_MIN_WORDS = 4
_NEVER_LITERAL = frozenset({"yes", "no", "true", "false"})
"""Answers that are judgements: the same word in a passage is a coincidence."""


def passage_text(hit: Hit) -> str:
    """Returns a passage as a reranker reads it and an answer lists it under `shown`: its title, what it is part of, as
    far as that is known, and its text.
    """
    return _with_context(hit, describe_hit(hit), hit.chunk.text)


def name_source(quote: Quote) -> str:
    """Returns the title (else the key) of the document of a quote, and what the quote is part of, for prompts."""
    name, context = quote.hit.document.title or quote.hit.document.key, describe_hit(quote.hit, quote.span)
    return f"{name} ({context})" if context else name


def find_quote(hit: Hit, words: str) -> Quote | None:
    """Returns the quote of these words, verbatim as in the hit's text; None if the text does not hold them.

    A quote of fewer than four words is extended to its sentence, or to its row of a table, because it tells a reader
    too little.
    """
    text = hit.chunk.text
    span = locate(words, text)
    if span is None:
        return None
    if len(_TOKEN.findall(text[span.start : span.end])) < _MIN_WORDS:
        span = _extend_to_sentence(span, text)
    return Quote(hit=hit, text=text[span.start : span.end], span=span)


def select_quote(hit: Hit, answer: str, question: str = "") -> Quote:
    """Returns the sentence, or row of a table, of a hit that supports an answer best.

    Reasoners that cite a passage as a whole quote this sentence.

    It holds most parts of the answer literally. If several sentences do, or none, it shares most words with the answer
    and the question; a word of the question counts the less, the more sentences of the passage have it.
    """
    text = hit.chunk.text
    spans = [_strip(text, start, end) for start, end in split_units(text)] or [Span(start=0, end=len(text))]
    stems = [_stems(text[span.start : span.end]) for span in spans]
    parts = [] if normalise_answer(answer) in _NEVER_LITERAL else _split_parts(answer)
    wanted = dict.fromkeys(_stems(" ".join(parts)), 1.0)
    spread = Counter(stem for of_sentence in stems for stem in of_sentence)
    asked = {stem: 1 / spread[stem] for stem in _stems(question) if spread[stem]}

    def support(place: int) -> tuple[int, float, int]:
        words = text[spans[place].start : spans[place].end]
        held = sum(is_contained(part, words) for part in parts)
        return held, round(_share(wanted, stems[place]) + _share(asked, stems[place]), 3), -place

    best = spans[max(range(len(spans)), key=support)]
    return Quote(hit=hit, text=text[best.start : best.end], span=best)


def is_supported(answer: str, hits: Sequence[Hit]) -> bool:
    """Whether a passage, its title or what it is part of literally holds the answer, both normalised as SQuAD does."""
    return any(is_contained(answer, passage_text(hit)) for hit in hits)


def is_quoted(answer: str, quotes: Sequence[Quote]) -> bool:
    """Whether the sentences of the quotes (with their titles and what they are part of) literally hold the answer.

    Of an answer of several parts, joined by semicolons, each part must be held. This is stricter than `is_supported`:
    a word elsewhere in the passage is no support.
    """
    parts = _split_parts(answer)
    if not parts or normalise_answer(answer) in _NEVER_LITERAL:
        return False
    texts = [_with_context(quote.hit, describe_hit(quote.hit, quote.span), _sentences_of(quote)) for quote in quotes]
    return all(any(is_contained(part, text) for text in texts) for part in parts)


def _with_context(hit: Hit, context: str, text: str) -> str:
    head = f"{hit.document.title}\n{context}" if context else hit.document.title
    return f"{head}\n{text}"


def _sentences_of(quote: Quote) -> str:
    span = _extend_to_sentence(quote.span, quote.hit.chunk.text)
    return quote.hit.chunk.text[span.start : span.end]


def _extend_to_sentence(span: Span, text: str) -> Span:
    touched = [(start, end) for start, end in split_units(text) if start < span.end and span.start < end]
    if not touched:
        return span
    whole = _strip(text, touched[0][0], touched[-1][1])
    return Span(start=min(whole.start, span.start), end=max(whole.end, span.end))


def _share(wanted: Mapping[str, float], there: set[str]) -> float:
    """Returns the share of the wanted words, by their weights, that are there."""
    return sum(weight for stem, weight in wanted.items() if stem in there) / max(sum(wanted.values()), 1e-9)


def _split_parts(answer: str) -> list[str]:
    return [part for part in answer.split(";") if part.strip()]


def _stems(text: str) -> set[str]:
    return {word.stem for word in split_words(text)}


def _strip(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    begin = start + len(piece) - len(piece.lstrip())
    return Span(start=begin, end=begin + len(piece.strip()))
