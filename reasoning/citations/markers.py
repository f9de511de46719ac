"""Markers such as `[2]` in a model's text: parsed, checked against what was shown, and turned into citations."""

import re
from collections.abc import Mapping, Sequence

from core.documents import Span
from core.passage_context import describe_hit
from core.ports.reasoning import Citation, Quote
from core.ports.retrieval import Hit
from core.trace import Trace
from reasoning.citations.quotes import select_quote

MARKERS = re.compile(r"(?<![\s\[])(?:\s*\[)+(\d{1,3}(?:\s*[-–,;，、；]\s*\d{1,3})*)\]")
"""`[2]`, or several as `[1, 3]` or `[1-3]`, with the space before it.

Brackets before a marker belong to it. If they stayed when the marker is dropped, they could form a new marker with the
text after it. A match begins with the first space or bracket of a row, so that the time is linear in the text.
"""

_NESTED = re.compile(r"\[(?=\s*\d[\d\s–,;，、；-]*\[)")
"""A bracket whose numbers are followed by another bracket, as in `[1[2]]`. It could form a new marker, too."""

_NUMBERS = re.compile(r"(\d+)(?:\s*[-–]\s*(\d+))?")

_MAX_NOTED = 20
"""The greatest number of notes on missing passages for a marker or a reply."""

_MOST_CITATIONS = 500
"""Citations of an answer. Each compares its words with all sentences of its passage."""

_BETWEEN = " \t\n.,;:!?。，；、"
"""Characters that may stand between a marker and the words that the next marker belongs to."""


def parse_markers(text: str) -> list[int]:
    """Returns the numbers of all markers of a text, each once, in order."""
    return list(dict.fromkeys(number for marker in MARKERS.finditer(text) for number in parse_marker(marker)))


def parse_marker(marker: re.Match[str]) -> list[int]:
    """Returns the numbers of one match of `MARKERS`, each once. A range that goes down counts as its two ends."""
    numbers: list[int] = []
    for number in _NUMBERS.finditer(marker[1]):
        first, last = int(number[1]), int(number[2] or number[1])
        numbers += range(first, last + 1) if first <= last else (first, last)
    return list(dict.fromkeys(numbers))


def strip_markers(text: str) -> str:
    """Returns an answer without the markers that a model may have put into it: nothing checks what they name."""
    return MARKERS.sub("", drop_nested_brackets(text)).strip()


def drop_nested_brackets(text: str) -> str:
    """Returns the text without opening brackets that would form a marker if a marker inside them is dropped."""
    return _NESTED.sub("", text)


def note_missing(trace: Trace, numbers: Sequence[int], where: str = "") -> None:
    """Notes that citations of these numbers were dropped: each of a few, or the count of many.

    `where` is ` of step …` or ''.
    """
    if len(numbers) > _MAX_NOTED:
        trace.note(f"{len(numbers)} citations{where} were dropped, [{numbers[0]}] first: no such passages were shown")
        return
    for number in numbers:
        trace.note(f"a citation [{number}]{where} was dropped: no such passage was shown")


def cite_passages(
    text: str,
    hits: Sequence[Hit],
    trace: Trace,
    question: str = "",
    quotes: Mapping[str, Quote] | None = None,
) -> tuple[str, tuple[Citation, ...]]:
    """Returns a text whose `[n]` markers name passages, numbered from 1, with the citations of these markers.

    A citation has the quote of its passage, by chunk id, or else the sentence that supports the text best. Markers are
    numbered again, and markers of passages that were not shown are dropped, as in `cite_quotes`.
    """
    return _resolve_markers(text, [(hit, (quotes or {}).get(hit.chunk.id)) for hit in hits], trace, question)


def cite_quotes(text: str, quotes: Sequence[Quote], trace: Trace) -> tuple[str, tuple[Citation, ...]]:
    """Returns a text whose `[n]` markers name quotes, numbered from 1, with the citations of these markers.

    Markers are numbered again from 1, in the order of the text. A marker that names no quote is dropped, and the trace
    gets a note.
    """
    return _resolve_markers(text, [(quote.hit, quote) for quote in quotes], trace, "")


def _resolve_markers(
    text: str, sources: Sequence[tuple[Hit, Quote | None]], trace: Trace, question: str
) -> tuple[str, tuple[Citation, ...]]:
    text = drop_nested_brackets(text)
    out, citations, numbers = "", list[Citation](), dict[int, int]()
    known = set[tuple[int, Span]]()
    left_out = 0
    at, span = 0, Span(start=0, end=0)
    for match in MARKERS.finditer(text):
        out += text[at : match.start()]
        words = text[at : match.start()].lstrip(_BETWEEN)
        if words:
            span = Span(start=len(out) - len(words), end=len(out))
        at = match.end()
        named = parse_marker(match)
        note_missing(trace, [number for number in named if not 1 <= number <= len(sources)])
        for number in named:
            if not 1 <= number <= len(sources):
                continue
            marker = numbers.setdefault(number, len(numbers) + 1)
            if (marker, span) in known:
                continue
            if len(known) == _MOST_CITATIONS:
                left_out += 1
                continue
            known.add((marker, span))
            hit, quote = sources[number - 1]
            quote = quote or select_quote(hit, out[span.start : span.end], question)
            citations.append(make_citation(marker, quote, span))
            out += f" [{marker}]"
    if left_out:
        trace.note(f"{left_out:,} citations were dropped: an answer has {_MOST_CITATIONS} at most")
    return out + text[at:], tuple(citations)


def make_citation(marker: int, quote: Quote, span: Span) -> Citation:
    """Returns the citation of a marker; `span` is the part of the answer that the quote supports."""
    return Citation(
        marker=marker,
        chunk_id=quote.hit.chunk.id,
        document=quote.hit.document,
        page=quote.hit.chunk.page,
        quote=quote.text,
        part_of=describe_hit(quote.hit, quote.span),
        answer_span=span,
        source_span=quote.span,
        url=quote.hit.url,
        corpus=quote.hit.corpus,
    )
