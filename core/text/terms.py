"""Stems of text, with counts, packed into a small row that is stored beside each chunk. Rankers compare them.

The indexer uses it on passages, `retrieval` on questions. Stems are stored as 32-bit hashes, so that a cold start reads
rows and not texts, and no vocabulary is in memory.
"""

import re
import threading
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np
import Stemmer
from numpy.typing import NDArray

from core.text.word_lists import STOP_WORDS

TERM = np.dtype([("stem", "<u4"), ("count", "u1"), ("capital", "u1"), ("lower", "u1"), ("place", "u1")])
"""One stem of a chunk, eight bytes.

`stem` is its hash. `count` is how often it occurs in title, heading and text. `capital` is how often it occurs with a
capital, alone and within a sentence; `lower` is how often without a capital. `place` is odd if title or
heading contain it, and half of it is the number of stems of the shortest label of a table's row that has it, 0 if none.
Counts are at most 255. A row of count 0 is such a label (`hash_label`).
"""

Terms = NDArray[Any]
"""Rows of `TERM`, ascending by stem, each stem once."""


_CHARACTER = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
MARKS = "".join(re.escape(chr(c)) for c in range(0x300, 0x3000) if unicodedata.category(chr(c)) in ("Mn", "Mc"))
"""Vowel signs and other marks within words, of which words of Devanagari or Bengali mostly consist, for a character
class.
"""
WORD = re.compile(rf"[\w{MARKS}][\w{MARKS}\u200c\u200d]*")
"""A run of characters that text indexes do not cut, with marks, and the joiners within words of Persian or Hindi."""
_TOKEN = re.compile(rf"[{_CHARACTER}]+|[^\W_{_CHARACTER}](?:[^\W_{_CHARACTER}]|[{MARKS}])*")
_SPACELESS = re.compile(rf"[{_CHARACTER}]")
_MARKS = re.compile(r"[\u0300-\u036f]")
_NEW_SENTENCE = re.compile(r"[.!?:;…\n]")
_LANGUAGES = {"LATIN": "english", "CYRILLIC": "russian", "GREEK": "greek", "ARABIC": "arabic", "DEVANAGARI": "hindi"}
_MOST = 255

MOST_REPEATED = 2
"""A word of a question weighs as often as the question has it, up to this number: what a long question comes back to is
its topic. More repetitions are a text that was pasted. Small words weigh once.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Word:
    """A word that is not a stop word, at `[start, end)` of its text, and its stem."""

    start: int
    end: int
    stem: str


def split_words(text: str) -> list[Word]:
    """Returns the words of a text, in order; a script without spaces gives overlapping pairs of characters."""
    return [word for token in _TOKEN.finditer(text) for word in _split_token(token)]


def hash_stem(stem: str) -> int:
    """Returns the number of a stem in `TERM`, CRC-32 of its UTF-8, which is the same everywhere."""
    return crc32(stem.encode("utf-8", "surrogatepass"))


def hash_label(stems: Collection[str]) -> int:
    """Returns the number in `TERM` of the label of a table's row. The order of its stems does not count."""
    return hash_stem("\0".join(["", *sorted(stems)]))


HAS_LABELS = hash_label(())
"""A term of each passage that has labels, so that their number is known without reading terms."""


def extract_terms(heads: Iterable[str], text: str, labels: Iterable[Collection[str]] = ()) -> Terms:
    """Returns the terms of a chunk; `heads` are its title and heading, `labels` the stems of its rows' labels."""
    counts: dict[int, list[int]] = {}
    head = "\n".join(heads)
    _count_stems(head, counts)
    of_head = set(counts)
    _count_stems(text, counts)
    shortest: dict[int, int] = {}
    labels = sorted(labels, key=len, reverse=True)
    if labels:
        counts[HAS_LABELS] = [0, 0, 0]
    for label in labels:
        shortest |= dict.fromkeys(map(hash_stem, label), min(len(label), _MOST >> 1))
        counts.setdefault(hash_label(label), [0, 0, 0])
    rows = [
        (stem, *(min(n, _MOST) for n in row), (stem in of_head) | shortest.get(stem, 0) << 1)
        for stem, row in sorted(counts.items())
    ]
    return np.array(rows, TERM)


def _split_token(token: re.Match[str]) -> Iterator[Word]:
    text, start = token.group(), token.start()
    if _SPACELESS.match(text):
        for at in range(max(len(text) - 1, 1)):
            pair = text[at : at + 2]
            yield Word(start=start + at, end=start + at + len(pair), stem=pair)
    elif stem := _stem(text):
        yield Word(start=start, end=token.end(), stem=stem)


def _count_stems(text: str, counts: dict[int, list[int]]) -> None:
    """Counts each stem: how often it occurs, how often with a capital, alone and within a sentence, and how often
    without a capital.

    A capital at the beginning of a sentence, or beside another, is no evidence of a name.
    """
    end, was_capital, last = 0, False, _NO_CAPITALS
    for token in _TOKEN.finditer(text):
        start, word = token.start(), token.group()
        is_capital, is_lower = word[0].isupper(), word[0].islower()
        if is_capital and was_capital:
            for row in last:  # the word before was counted as alone
                row[1] -= 1
        last = _NO_CAPITALS
        is_alone = is_capital and not was_capital and end > 0 and not _NEW_SENTENCE.search(text, end, start)
        rows = [counts.setdefault(stem, [0, 0, 0]) for stem in _stems_of(word)]
        for row in rows:
            row[0] += 1
            row[1] += is_alone
            row[2] += is_lower
        if is_alone:
            last = rows
        end, was_capital = token.end(), is_capital


_NO_CAPITALS: list[list[int]] = []


@lru_cache(maxsize=1 << 16)
def _stems_of(token: str) -> tuple[int, ...]:
    """Returns the hashes of the stems of a token."""
    return tuple(hash_stem(word.stem) for word in split_words(token))


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    """Returns the stem of a word; '' for a stop word and a single letter."""
    folded = _fold(word)
    return "" if len(folded) < 2 or folded in _STOP_STEMS else _STEMMERS.stem(folded, _script(folded))


def _fold(word: str) -> str:
    """Returns the word without case, and in Latin and Greek without accents, which are often left out; й is not и."""
    word = unicodedata.normalize("NFKC", word.casefold())
    if _script(word) in ("LATIN", "GREEK"):
        word = unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFKD", word)))
    return word


def _script(word: str) -> str:
    return unicodedata.name(word[0], "").partition(" ")[0] if word else ""


_STOP_STEMS = frozenset(map(_fold, STOP_WORDS))


class _Stemmers(threading.local):
    """Snowball stemmers, one of each language per thread, since they are not thread-safe."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def stem(self, word: str, script: str) -> str:
        language = _LANGUAGES.get(script)
        if language is None:
            return word
        if language not in self._made:
            self._made[language] = Stemmer.Stemmer(language)
        return str(self._made[language].stemWord(word))


_STEMMERS = _Stemmers()
