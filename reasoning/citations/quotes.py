"""Quotes of passages: copied by a model, or selected by code where the model copied nothing; and their checks.

First comes `locate`: it finds where a text holds words that a model copied from it, exactly or loosely. Its time is
linear.
"""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from core.documents import Span
from core.passage_context import describe_hit, split_units
from core.ports.reasoning import Quote
from core.ports.retrieval import Hit
from core.text.answers import is_contained, normalise_answer
from core.text.terms import split_words

_MARKS = "\"'“”„»«‘’"
_PAIRS = (("(", ")"), ("[", "]"), ("“", "”"), ("„", "“"), ("«", "»"), ("「", "」"), ('"', '"'))
_OMITTED = re.compile(r"…|\.{3,}|\[[^\[\]]*\]")
_TOKEN = re.compile(r"\w+")

_MIN_CHARACTERS = 3
"""Shorter words are found everywhere."""
_MAX_OMITTED = 400
"""If the parts of a quote stand further apart, only its longest part counts."""
_MIN_LOOSE_WORDS = 6
_ANCHOR = 2
_MIN_SHARED = 0.8
"""The share of a quote's words that a passage must hold between the quote's first and last words."""


def locate(words: str, text: str) -> Span | None:
    """Returns where `text` holds `words`, or None.

    Case, accents, spaces and punctuation may differ, also within words. An ellipsis or words in square brackets stand
    for words that are left out. Between the first two and the last two words of a longer quote, a few words may be
    missing or differ, but no number.
    """
    wanted = words.strip().strip(_MARKS).strip()
    if len(wanted) < _MIN_CHARACTERS:
        return None
    at = text.find(wanted)
    if at >= 0 and _is_at_word_ends(text, at, at + len(wanted)):
        return _include_pairs(Span(start=at, end=at + len(wanted)), text)
    letters = _Letters(text)
    span = letters.find(wanted)
    if span is None and at >= 0 and len(wanted.split()) > 1:  # several words, of which the first or last is cut off
        span = Span(start=at, end=at + len(wanted))
    span = span or _locate_parts(wanted, letters) or _locate_ends(wanted, text)
    return None if span is None else _include_pairs(span, text)


class _Letters:
    """The letters and digits of a text, without case and accents, and where each stands in the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        pairs = [(letter, place) for place, character in enumerate(text) for letter in _fold(character)]
        self._letters = "".join(letter for letter, _ in pairs)
        self._places = [place for _, place in pairs]

    def find(self, words: str, start: int = 0) -> Span | None:
        """Returns the first place at or after `start` where the text holds these letters as whole words."""
        wanted = "".join(letter for character in words for letter in _fold(character))
        at = self._letters.find(wanted, bisect_left(self._places, start)) if wanted else -1
        while at >= 0:
            span = Span(start=self._places[at], end=self._places[at + len(wanted) - 1] + 1)
            if _is_at_word_ends(self.text, span.start, span.end):
                return span
            at = self._letters.find(wanted, at + 1)
        return None


def _fold(character: str) -> str:
    if character.isascii():
        return character.lower() if character.isalnum() else ""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", character).casefold()))


def _locate_parts(words: str, letters: _Letters) -> Span | None:
    """Finds the parts between the words that a quote leaves out, in their order."""
    parts = [part.strip() for part in _OMITTED.split(words) if len(part.strip()) >= _MIN_CHARACTERS]
    if not parts or parts == [words]:
        return None
    spans: list[Span] = []
    for part in parts:
        found = letters.find(part, spans[-1].end if spans else 0)
        if found is None:
            return None
        spans.append(found)
    if all(following.start - span.end <= _MAX_OMITTED for span, following in pairwise(spans)):
        return Span(start=spans[0].start, end=spans[-1].end)
    return max(spans, key=lambda span: span.end - span.start)


def _locate_ends(words: str, text: str) -> Span | None:
    """Finds a quote by its first and its last words, if most of its words stand between them, and all its numbers."""
    wanted = [token.casefold() for token in _TOKEN.findall(words)]
    if len(wanted) < _MIN_LOOSE_WORDS:
        return None
    tokens = list(_TOKEN.finditer(text))
    folded = [token.group().casefold() for token in tokens]
    ends = list(_find_runs(wanted[-_ANCHOR:], folded))
    for start in _find_runs(wanted[:_ANCHOR], folded):
        following = bisect_left(ends, start + _ANCHOR)
        if following == len(ends):
            return None
        stop = ends[following] + _ANCHOR
        if stop - start <= 2 * len(wanted) + _ANCHOR and _holds_most(folded[start:stop], wanted):
            return Span(start=tokens[start].start(), end=tokens[stop - 1].end())
    return None


def _find_runs(run: list[str], tokens: list[str]) -> Iterator[int]:
    """Yields each place of a short run of tokens."""
    for start in range(len(tokens) - len(run) + 1):
        if tokens[start] == run[0] and tokens[start : start + len(run)] == run:
            yield start


def _holds_most(there: list[str], wanted: list[str]) -> bool:
    missing = Counter(wanted) - Counter(there)
    if any(character.isdigit() for word in missing for character in word):
        return False
    return missing.total() <= (1 - _MIN_SHARED) * len(wanted)


def _is_at_word_ends(text: str, start: int, end: int) -> bool:
    return not (_is_inside_word(text, start) or _is_inside_word(text, end))


def _is_inside_word(text: str, at: int) -> bool:
    """Whether a word goes on at this place; of a script without capitals, which may have no spaces, it is not known."""
    return 0 < at < len(text) and all(
        character.isdigit() or (character.isalpha() and character.lower() != character.upper())
        for character in text[at - 1 : at + 1]
    )


def _include_pairs(span: Span, text: str) -> Span:
    """Returns the span with a quotation mark or bracket beside it whose other half is inside."""
    start, end = span.start, span.end
    for opening, closing in _PAIRS:
        inside = text[start:end]
        opened, closed = inside.count(opening), inside.count(closing)
        lacks = opened % 2 == 1 if opening == closing else opened != closed
        if not lacks:
            continue
        if text[start - 1 : start] == opening and (opening == closing or closed > opened):
            start -= 1
        elif text[end : end + 1] == closing and (opening == closing or opened > closed):
            end += 1
    return Span(start=start, end=end)


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


def _with_context(hit: Hit, context: str, text: str) -> str:
    head = f"{hit.document.title}\n{context}" if context else hit.document.title
    return f"{head}\n{text}"


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
