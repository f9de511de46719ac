"""Quotes of passages: found where a model copied them inexactly, selected where it quoted nothing, and checked."""

import re
from collections.abc import Sequence

from core.documents import Span
from core.ports.reasoning import Quote
from core.ports.retrieval import Hit
from core.prompting.fences import neutral
from core.text.answers import is_contained, normalise_answer
from core.text.sentences import split_sentences
from core.text.word_lists import STOP_WORDS

__all__ = ["find_quote", "is_quoted", "is_supported", "locate", "passage_text", "select_quote"]

_TOKEN = re.compile(r"\w+")
_MIN_CHARACTERS = 3
"""Shorter words are found everywhere."""
_MIN_WORDS = 4
_NEVER_LITERAL = frozenset({"yes", "no", "true", "false"})
"""Answers that are judgements: the same word in a passage is a coincidence."""


def passage_text(hit: Hit) -> str:
    """Returns the title and the text of a passage, as a reranker reads it and an answer lists it under `shown`."""
    return f"{hit.document.title}\n{hit.chunk.text}"


def find_quote(hit: Hit, words: str) -> Quote | None:
    """Returns the quote at which the hit's text holds these words, verbatim as in the text; None if it does not.

    A quote of fewer than four words is extended to its sentence, because it tells a reader too little.
    """
    text = hit.chunk.text
    span = locate(words, text)
    if span is None:
        return None
    if len(_TOKEN.findall(text[span.start : span.end])) < _MIN_WORDS:
        span = _extend_to_sentence(span, text)
    return Quote(hit=hit, text=text[span.start : span.end], span=span)


def locate(words: str, text: str) -> Span | None:
    """Returns where `text` holds `words`, or None; case, spaces and punctuation between the words may differ."""
    stripped = words.strip().strip("\"'“”„»«‘’").strip()
    if len(stripped) < _MIN_CHARACTERS:
        return None
    for variant in (text, neutral(text)):  # a model saw the text with its fences made harmless
        at = variant.find(stripped)
        if at >= 0:
            return Span(start=at, end=at + len(stripped))
    wanted = [token.casefold() for token in _TOKEN.findall(stripped)]
    tokens = list(_TOKEN.finditer(text))
    folded = [token.group().casefold() for token in tokens]
    for start in range(len(folded) - len(wanted) + 1 if wanted else 0):
        if folded[start : start + len(wanted)] == wanted:
            return Span(start=tokens[start].start(), end=tokens[start + len(wanted) - 1].end())
    return None


def select_quote(hit: Hit, answer: str, question: str = "") -> Quote:
    """Returns the sentence of a hit that supports an answer best: it holds the answer, and shares words with the
    question.

    Reasoners that cite a passage as a whole quote this sentence.
    """
    text = hit.chunk.text
    wanted = _content_words(f"{answer} {question}")

    def support(span: Span) -> tuple[bool, int, int]:
        words = text[span.start : span.end]
        return is_contained(answer, words), len(wanted & _content_words(words)), -span.start

    spans = [_strip(text, start, end) for start, end in split_sentences(text)] or [Span(start=0, end=len(text))]
    best = max(spans, key=support)
    return Quote(hit=hit, text=text[best.start : best.end], span=best)


def is_supported(answer: str, hits: Sequence[Hit]) -> bool:
    """Whether a passage (its title or its text) literally holds the answer, both normalised as SQuAD does."""
    return any(is_contained(answer, passage_text(hit)) for hit in hits)


def is_quoted(answer: str, quotes: Sequence[Quote]) -> bool:
    """Whether the sentences of the quotes (with the titles of their passages) literally hold the answer.

    Of an answer of several parts, joined by semicolons, each part must be held. This is stricter than `is_supported`:
    a word elsewhere in the passage is no support.
    """
    parts = [part for part in answer.split(";") if part.strip()]
    if not parts or normalise_answer(answer) in _NEVER_LITERAL:
        return False
    texts = [f"{quote.hit.document.title}\n{_sentences_of(quote)}" for quote in quotes]
    return all(any(is_contained(part, text) for text in texts) for part in parts)


def _sentences_of(quote: Quote) -> str:
    span = _extend_to_sentence(quote.span, quote.hit.chunk.text)
    return quote.hit.chunk.text[span.start : span.end]


def _extend_to_sentence(span: Span, text: str) -> Span:
    touched = [(start, end) for start, end in split_sentences(text) if start < span.end and span.start < end]
    if not touched:
        return span
    whole = _strip(text, touched[0][0], touched[-1][1])
    return Span(start=min(whole.start, span.start), end=max(whole.end, span.end))


def _content_words(text: str) -> set[str]:
    return set(normalise_answer(text).split()) - STOP_WORDS


def _strip(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    begin = start + len(piece) - len(piece.lstrip())
    return Span(start=begin, end=begin + len(piece.strip()))
