"""Passages shortened to the sentences that matter for a question: a small model reads slowly, and loses its way."""

from collections.abc import Sequence
from dataclasses import replace

from core.passage_context import split_units
from core.ports.retrieval import Hit
from core.text.terms import split_words
from core.text.word_lists import SMALL_WORDS

__all__ = ["select_sentences", "shorten_hits", "stems_of"]

_FIRST = 0.8
"""The worth of the first sentence, which mostly says what the passage is about."""
_BRIDGE = 0.7
"""The worth of the title of another passage: the sentence leads there."""
_PER_WORD = 1 / 200
_PER_WORD_ALONE = 1 / 100
"""The cost of each word if a sentence stands alone for its passage: a sentence of a contract may be a page."""
_SHORTEST = 4
"""Words of a sentence that says something: a heading has fewer."""


def shorten_hits(question: str, hits: Sequence[Hit], sentences: int) -> tuple[Hit, ...]:
    """Returns the hits with at most this many sentences (rows, of a table) of each text, in their order.

    Kept are the sentences that share most words with the question, name the titles of other passages, or come first.
    Quotes of a shortened text are looked up in the whole one.
    """
    asked = stems_of(question)
    titles = [stems_of(hit.document.title) for hit in hits]
    return tuple(
        _shorten(hit, asked - titles[place], [*titles[:place], *titles[place + 1 :]], sentences)
        for place, hit in enumerate(hits)
    )


def select_sentences(question: str, hits: Sequence[Hit], most: int) -> tuple[Hit, ...]:
    """Returns hits cut to the sentences that share most words with the question, at most `most` sentences in all. Hits
    without such a sentence are left out. The hit with the best sentence comes first.
    """
    asked = stems_of(question)
    found: list[tuple[float, int, int, str]] = []
    for place, hit in enumerate(hits):
        for start, end in split_units(hit.chunk.text):
            unit = hit.chunk.text[start:end].strip()
            words = len(unit.split())
            if words >= _SHORTEST:
                found.append((_PER_WORD_ALONE * words - len(stems_of(unit) & asked), place, start, unit))
    found.sort()
    best: dict[int, list[tuple[int, str]]] = {}
    for _, place, start, unit in found[:most]:
        best.setdefault(place, []).append((start, unit))
    return tuple(_with_text(hits[place], [unit for _, unit in sorted(units)]) for place, units in best.items())


def stems_of(text: str) -> frozenset[str]:
    """Returns the stems of a text's words, without function words."""
    return frozenset(
        word.stem for word in split_words(text) if text[word.start : word.end].casefold() not in SMALL_WORDS
    )


def _shorten(hit: Hit, asked: frozenset[str], others: Sequence[frozenset[str]], sentences: int) -> Hit:
    text = hit.chunk.text
    units = [text[start:end].strip() for start, end in split_units(text)]
    units = [unit for unit in units if unit]
    if len(units) <= sentences:
        return hit

    def worth(place: int) -> float:
        stems = stems_of(units[place])
        bridges = sum(bool(title) and title <= stems for title in others)
        first = _FIRST if place == 0 else 0
        return len(stems & asked) + _BRIDGE * bridges + first - _PER_WORD * len(units[place].split())

    best = sorted(sorted(range(len(units)), key=worth, reverse=True)[:sentences])
    return _with_text(hit, [units[place] for place in best])


def _with_text(hit: Hit, units: Sequence[str]) -> Hit:
    return replace(hit, chunk=replace(hit.chunk, text=" ".join(units)))
