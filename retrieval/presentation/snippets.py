"""Snippets: the sentence of a passage that has the rarest words of the question, with these words marked.

Where a text has no sentences, as in tables and lists, the line takes the place of the sentence.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from core.documents import Span
from core.text.sentences import Range, split_sentences
from core.text.terms import Word, hash_stem, split_words
from retrieval.graph.terms import TermStatistics

__all__ = ["Snippet", "make_snippet", "weigh_words"]

_LONGEST = 320
"""Characters of a snippet. Of a longer sentence, the part with the most weight is taken."""

_READ = 20_000
"""Characters of a passage that are read. Chunkers make shorter chunks; chunks that users submit may be longer."""

_LONGEST_ROW = 640
"""Characters of a row of a table, and of a sentence. Of a longer row the sentences are looked at, and of a longer
sentence the lines: it is a text without ends of sentences.
"""

_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")
_CELLS = re.compile(r"[^\s|][^\S\n]+\|[^\S\n]+[^\s|]|[^\s]\t+[^\s]|^[^\n;:]{1,60}: [^\n;]{0,200}; [^\n;:]{1,60}: ")
"""Cells with bars or tabs between them, or with their names: `City: Ulm; River: Danube`."""
_LEADER = re.compile(
    r"(?<=[^\s.·…_])[^\S\n]{0,8}(?:[.·…_][^\S\n]?){5,}+[^\S\n]*+(?:\d{1,5}|[ivxlcdm]{1,8})?[^\S\n]*+$",
    re.MULTILINE | re.IGNORECASE,
)
"""The dots between a title and its page in a table of contents."""


@dataclass(frozen=True, kw_only=True)
class Snippet:
    """A part of a passage: `text` is `passage[span.start:span.end]`. `marks` are places in `text`, ascending."""

    text: str
    span: Span
    marks: tuple[Span, ...]


def weigh_words(question: str, statistics: TermStatistics) -> dict[str, float]:
    """Returns the stems of the question's words with their inverse document frequencies."""
    stems = sorted({word.stem for word in split_words(question)})
    df = statistics.document_frequency(np.array([hash_stem(stem) for stem in stems], np.uint32))
    idf = np.log1p((statistics.chunks - df + 0.5) / (df + 0.5))
    return dict(zip(stems, idf.tolist(), strict=True))


def make_snippet(text: str, weights: Mapping[str, float]) -> Snippet:
    """Returns the sentence in which the words of the question weigh most, each counted once.

    Of several, it is the first; without any word of the question, the first of all. A line of a table of contents is
    taken only if no sentence has a word. `weights` are by stem.
    """
    text = text[:_READ]
    words = [word for word in split_words(text) if word.stem in weights]
    units = [_strip(text, unit) for unit in _split(text)] or [_strip(text, (0, len(text)))]
    start, end = max(units, key=lambda unit: _rate(text, unit, _weigh(_inside(words, unit), weights)))
    if end - start > _LONGEST:
        start, end = _shorten(text, (start, end), _inside(words, (start, end)), weights)
    marks = _join(_inside(words, (start, end)))
    return Snippet(
        text=text[start:end],
        span=Span(start=start, end=end),
        marks=tuple(Span(start=first - start, end=last - start) for first, last in marks),
    )


def _split(text: str) -> Iterator[Range]:
    """Yields the units that a snippet may be: rows of tables, lines of tables of contents, and sentences between."""
    at = 0
    for line in _LINE.finditer(text):
        if _is_row(line[0]):
            yield from _split_prose(text, at, line.start())
            yield line.span()
            at = line.end()
    yield from _split_prose(text, at, len(text))


def _is_row(line: str) -> bool:
    return len(line) <= _LONGEST_ROW and bool(_CELLS.search(line) or _LEADER.search(line))


def _split_prose(text: str, first: int, last: int) -> Iterator[Range]:
    """Yields the sentences of a part; of a text without ends of sentences, the lines."""
    for start, end in split_sentences(text[first:last]):
        if end - start <= _LONGEST_ROW:
            yield first + start, first + end
        else:
            yield from (line.span() for line in _LINE.finditer(text, first + start, first + end) if line[0].strip())


def _rate(text: str, unit: Range, weight: float) -> tuple[bool, float, bool]:
    """Returns the sort key of a unit: a unit with words, except a line of a table of contents, is above all others."""
    plain = _LEADER.search(text, *unit) is None
    return weight > 0 and plain, weight, plain


def _strip(text: str, place: Range) -> Range:
    part = text[slice(*place)]
    start = place[0] + len(part) - len(part.lstrip())
    return start, max(start, place[0] + len(part.rstrip()))


def _inside(words: Sequence[Word], place: Range) -> list[Word]:
    return [word for word in words if place[0] <= word.start and word.end <= place[1]]


def _weigh(words: Sequence[Word], weights: Mapping[str, float]) -> float:
    """Returns the sum in a fixed order, so that equal sets of words weigh the same."""
    return sum(weights[stem] for stem in sorted({word.stem for word in words}))


def _shorten(text: str, sentence: Range, words: Sequence[Word], weights: Mapping[str, float]) -> Range:
    """Returns the part of a long sentence that weighs most, cut between words where there is white space."""
    first, last = _find_densest(words, weights) if words else (sentence[0], sentence[0])
    last = min(last, first + _LONGEST)
    end = min(sentence[1], max(sentence[0], first - (_LONGEST - (last - first)) // 2) + _LONGEST)
    start = max(sentence[0], end - _LONGEST)
    if start > sentence[0]:
        start = next((place for place in range(start, first + 1) if text[place - 1].isspace()), start)
    if end < sentence[1]:
        end = next((place for place in range(end, last - 1, -1) if text[place].isspace()), end)
    return _strip(text, (start, end))


def _find_densest(words: Sequence[Word], weights: Mapping[str, float]) -> Range:
    """Returns the place of the heaviest words that fit into a snippet together; of equally heavy places, the first."""
    best, most = (words[0].start, words[0].end), -1.0
    for at, word in enumerate(words):
        end = word.start + _LONGEST
        fitting = [other for other in islice(words, at, at + _LONGEST) if other.end <= end]
        weight = _weigh(fitting, weights)
        if fitting and weight > most:
            best, most = (word.start, fitting[-1].end), weight
    return best


def _join(words: Sequence[Word]) -> list[Range]:
    """Returns the places of words. Words that overlap or touch share a place, as pairs in scripts without spaces do."""
    places: list[Range] = []
    for word in words:
        if places and word.start <= places[-1][1]:
            places[-1] = places[-1][0], max(places[-1][1], word.end)
        else:
            places.append((word.start, word.end))
    return places
