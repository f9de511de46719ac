"""From markers in a text, or quotes of steps, to the citations of an answer; what was not shown is not cited."""

import re
from collections.abc import Sequence

from core.documents import Span
from core.ports.reasoning import Citation, Quote
from core.ports.retrieval import Hit
from core.trace import Trace
from reasoning.citations.quoting import best_quote

__all__ = ["MARKERS", "citation", "cited_numbers", "cited_text", "marked", "quoted_text"]

MARKERS = re.compile(r"(?:\s*\[)+(\d{1,3}(?:\s*[-–,;，、；]\s*\d{1,3})*)\]")
"""`[2]`, or several as `[1, 3]` or `[1-3]`, with the space before it.

Brackets before it belong to it: else what is left of them, where it is dropped, might make a marker with what follows.
"""

_NUMBERS = re.compile(r"(\d+)(?:\s*[-–]\s*(\d+))?")

_BETWEEN = " \t\n.,;:!?。，；、"
"""What may stand between a marker and the words that the next one belongs to."""


def cited_numbers(text: str) -> list[int]:
    """The numbers that a text cites, each once, in order."""
    return list(dict.fromkeys(number for found in MARKERS.finditer(text) for number in marked(found)))


def marked(marker: re.Match[str]) -> list[int]:
    """The numbers of one of the `MARKERS`, each once; of a range that goes down its ends."""
    numbers: list[int] = []
    for found in _NUMBERS.finditer(marker[1]):
        first, last = int(found[1]), int(found[2] or found[1])
        numbers += range(first, last + 1) if first <= last else (first, last)
    return list(dict.fromkeys(numbers))


def cited_text(text: str, hits: Sequence[Hit], trace: Trace, question: str = "") -> tuple[str, tuple[Citation, ...]]:
    """A text with `[n]` markers over passages numbered from 1: a marker quotes the best sentence of its passage."""
    quotes = [(hit, None) for hit in hits]
    return _cited(text, quotes, trace, question)


def quoted_text(text: str, quotes: Sequence[Quote], trace: Trace) -> tuple[str, tuple[Citation, ...]]:
    """A text with `[n]` markers over quotes numbered from 1."""
    return _cited(text, [(quote.hit, quote) for quote in quotes], trace, "")


def _cited(
    text: str, sources: Sequence[tuple[Hit, Quote | None]], trace: Trace, question: str
) -> tuple[str, tuple[Citation, ...]]:
    """Markers are numbered again from 1, in the order of the text; those of nothing that was shown are dropped."""
    out, citations, numbers = "", list[Citation](), dict[int, int]()
    at, span = 0, Span(start=0, end=0)
    for found in MARKERS.finditer(text):
        out += text[at : found.start()]
        said = text[at : found.start()].lstrip(_BETWEEN)
        if said:
            span = Span(start=len(out) - len(said), end=len(out))
        at = found.end()
        for number in marked(found):
            if not 1 <= number <= len(sources):
                trace.note(f"a citation [{number}] was dropped: no such passage was shown")
                continue
            marker = numbers.setdefault(number, len(numbers) + 1)
            if any(one.marker == marker and one.answer_span == span for one in citations):
                continue
            hit, quote = sources[number - 1]
            citations.append(citation(marker, quote or best_quote(hit, out[span.start : span.end], question), span))
            out += f" [{marker}]"
    return out + text[at:], tuple(citations)


def citation(marker: int, quote: Quote, span: Span) -> Citation:
    """What an answer's marker stands on; `span` is where the answer uses it."""
    return Citation(
        marker=marker,
        chunk_id=quote.hit.chunk.id,
        document=quote.hit.document,
        page=quote.hit.chunk.page,
        quote=quote.text,
        answer_span=span,
        source_span=quote.span,
        url=quote.hit.url,
    )
