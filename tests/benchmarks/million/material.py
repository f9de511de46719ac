"""Any number of synthetic passages with triples, streamed; the n-th is the same in every run."""

import json
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from core.documents import Submission
from indexer.submission.submissions import submission_from_json

__all__ = ["key_of", "make_passages", "make_questions", "text_bytes"]

_SEED = 17
_BLOCK = 1_000
_WORDS, _NAMES, _PREDICATES = 500_000, 2_000_000, 300
_WORDS_OF_A_PASSAGE, _NAMES_OF_A_PASSAGE = 75, 5
_PASSAGES_OF_AN_ARTICLE = 8
_FLATTER = 20
"""Ranks are drawn as 1 / (rank + this): the most frequent name is in some 2 % of the passages."""

_SYLLABLES = [a + b for a in ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z") for b in "aeiou"]
_FIRST_NAMES = 3_000


def make_passages(start: int, stop: int, *, version: int = 0) -> Iterator[Submission]:
    """Yields passages `start` to `stop`, of some 470 characters with six names and five triples each.

    Words and names follow Zipf's law. A title is the name of an article, which eight passages have in common. Another
    `version` has the same keys and other texts.
    """
    for first in range(start - start % _BLOCK, stop, _BLOCK):
        rng = np.random.default_rng((_SEED, version, first))
        words = _ranks(rng, (_BLOCK, _WORDS_OF_A_PASSAGE), _WORDS, 1)
        names = _ranks(rng, (_BLOCK, _NAMES_OF_A_PASSAGE), _NAMES, _FLATTER)
        predicates = _ranks(rng, (_BLOCK, _NAMES_OF_A_PASSAGE), _PREDICATES, 1)
        for n in range(max(start, first), min(stop, first + _BLOCK)):
            row = n - first
            title = _name(n // _PASSAGES_OF_AN_ARTICLE)
            yield _submission(n, title, words[row].tolist(), names[row].tolist(), predicates[row].tolist())


def make_questions(count: int, passages: int) -> list[str]:
    """Returns questions that name the article of a passage, another name, and some words."""
    rng = np.random.default_rng((_SEED, 1, 1))
    articles = rng.integers(0, max(1, passages // _PASSAGES_OF_AN_ARTICLE), count).tolist()
    names = _ranks(rng, (count,), _NAMES, _FLATTER).tolist()
    words = _ranks(rng, (count, 6), _WORDS, 50).tolist()
    return [
        f"Which {_word(w[0])} of {_name(article)} {_word(w[1])} {_word(w[2])} with {_name(name)} {_word(w[3])}?"
        for article, name, w in zip(articles, names, words, strict=True)
    ]


def key_of(number: int) -> str:
    return f"passage-{number:08d}"


def text_bytes(submission: Submission) -> int:
    """Returns the bytes of the text and the title, without the triples."""
    document = json.loads(submission.content)
    return len(document["text"]) + len(document["title"])


def _submission(n: int, title: str, words: list[int], names: list[int], predicates: list[int]) -> Submission:
    others = [_name(name) for name in names]
    part = len(words) // len(others)
    text = title
    for number, other in enumerate(others):
        said = " ".join(map(_word, words[number * part : (number + 1) * part]))
        text += f" {said} {other}. " if number % 2 else f" {said} {other},"
    pairs = [(title, others[0]), *pairwise(others)]
    triples = [[one, _word(p), other] for (one, other), p in zip(pairs, predicates, strict=True)]
    return submission_from_json({"key": key_of(n), "title": title, "text": text.strip() + ".", "triples": triples})


def _ranks(rng: np.random.Generator, shape: tuple[int, ...], size: int, shift: int) -> NDArray[np.int64]:
    """Returns ranks below `size`, each with a probability of about 1 / (rank + shift)."""
    drawn = shift * ((size + shift) / shift) ** rng.random(shape)
    return np.minimum(drawn.astype(np.int64) - shift, size - 1)


def _name(number: int) -> str:
    number = number * 7_368_787 % _NAMES  # a prime: names of neighbouring numbers are not similar
    first, last = number % _FIRST_NAMES, number // _FIRST_NAMES
    return f"{_word(first + 5_000).capitalize()} {_word(last * 97 + 400_000).capitalize()}"


def _word(number: int) -> str:
    """Returns a word of one syllable or more; frequent words are short."""
    base = len(_SYLLABLES)
    syllables = []
    while True:
        syllables.append(_SYLLABLES[number % base])
        number = number // base - 1
        if number < 0:
            return "".join(syllables)
