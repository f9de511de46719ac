"""A chunk's words as rankers compare them: stems with counts, packed into one small row that is kept beside the chunk.

Both sides use it: the indexer on passages, `retrieval` on questions. Stems are kept as 32-bit hashes, so that a cold
start reads rows and not texts, and no vocabulary is held in memory; a question's stems are hashed to be compared.
"""

import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np
import Stemmer
from numpy.typing import NDArray

__all__ = ["STOP_WORDS", "TERM", "Terms", "Word", "hash_of", "terms_of", "words"]

TERM = np.dtype([("stem", "<u4"), ("count", "u1"), ("capital", "u1"), ("lower", "u1"), ("title", "u1")])
"""One stem of a chunk: its hash; how often it occurs in title, heading and text; how often alone with a capital within
a sentence; how often without a capital; whether title or heading hold it. Counts end at 255.
"""

Terms = NDArray[Any]
"""Rows of `TERM`, ascending by stem, each stem once."""


def _split(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS = _split("""
    a about above after again against all am an and any are as at be because been before being below between both but
    by can could did do does doing down during each few for from further had has have having he her here hers herself
    him himself his how i if in into is it its itself just me more most my myself no nor not now of off on once only or
    other our ours out over own same she should so some such than that the their theirs them themselves then there
    these they this those through to too under until up upon very was we were what when where whether which while who
    whom whose why will with would you your yours
    wer wo wann warum welche welcher welches quién qué cuál cuándo dónde cómo qui où quel quelle quels quelles quale
    quem qual onde wat waar wanneer welke vad när hur кто что где когда как какой какая какое какие ποιος ποια ποιο πού
    πότε
""")
"""English, and question words of other languages, which are rare in passages; their other small words are frequent, and
weigh little for that.
"""

_CHARACTER = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_COMBINING = "".join(re.escape(chr(c)) for c in range(0x300, 0x3000) if unicodedata.category(chr(c)) in ("Mn", "Mc"))
"""Vowel signs and the like, which stand within words: most of what a word of Devanagari or Bengali is made of."""
_TOKEN = re.compile(rf"[{_CHARACTER}]+|[^\W_{_CHARACTER}](?:[^\W_{_CHARACTER}]|[{_COMBINING}])*")
_SPACELESS = re.compile(rf"[{_CHARACTER}]")
_MARKS = re.compile(r"[\u0300-\u036f]")
_NEW_SENTENCE = re.compile(r"[.!?:;…\n]")
_LANGUAGES = {"LATIN": "english", "CYRILLIC": "russian", "GREEK": "greek", "ARABIC": "arabic", "DEVANAGARI": "hindi"}
_MOST = 255


@dataclass(frozen=True, kw_only=True, slots=True)
class Word:
    """A word that is no stop word, at `[start, end)` of its text, and the stem that stands for it."""

    start: int
    end: int
    stem: str


def words(text: str) -> list[Word]:
    """The words of a text, in order; a script without spaces gives overlapping pairs of characters."""
    return [word for token in _TOKEN.finditer(text) for word in _words_of(token)]


def hash_of(stem: str) -> int:
    """The number that stands for a stem in `TERM`, the same everywhere."""
    return crc32(stem.encode("utf-8", "surrogatepass"))


def terms_of(heads: Iterable[str], text: str) -> Terms:
    """The terms of a chunk: `heads` are its title and heading."""
    head = "\n".join(heads)
    of_head = {hash_of(word.stem) for word in words(head)}
    counts: dict[int, list[int]] = {}
    for part in (head, text):
        for stem, capital, lower in _cased(part):
            row = counts.setdefault(stem, [0, 0, 0])
            row[0] += 1
            row[1] += capital
            row[2] += lower
    out = np.zeros(len(counts), TERM)
    for at, (stem, row) in enumerate(sorted(counts.items())):
        out[at] = stem, *(min(n, _MOST) for n in row), stem in of_head
    return out


def _words_of(token: re.Match[str]) -> Iterator[Word]:
    text, start = token.group(), token.start()
    if _SPACELESS.match(text):
        for at in range(max(len(text) - 1, 1)):
            pair = text[at : at + 2]
            yield Word(start=start + at, end=start + at + len(pair), stem=pair)
    elif stem := _stem(text):
        yield Word(start=start, end=token.end(), stem=stem)


def _cased(text: str) -> Iterator[tuple[int, bool, bool]]:
    """Each word's stem with whether it stands alone with a capital within a sentence, and whether without one.

    A capital at the beginning of a sentence, or beside another, tells nothing of the word.
    """
    tokens = list(_TOKEN.finditer(text))
    capital = [token.group()[0].isupper() for token in tokens]
    for at, token in enumerate(tokens):
        before = text[tokens[at - 1].end() if at else 0 : token.start()]
        begins = at == 0 or _NEW_SENTENCE.search(before) is not None
        beside = (at > 0 and capital[at - 1]) or (at + 1 < len(tokens) and capital[at + 1])
        lower = token.group()[0].islower()
        for word in _words_of(token):
            yield hash_of(word.stem), capital[at] and not begins and not beside, lower


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    """The stem of a word; '' for a stop word and a single letter."""
    folded = _folded(word)
    return "" if len(folded) < 2 or folded in _STOP_STEMS else _STEMMERS.stem(folded, _script(folded))


def _folded(word: str) -> str:
    """Without case, and in Latin and Greek without accents, which are left out as often as not; й is no и."""
    word = unicodedata.normalize("NFKC", word.casefold())
    if _script(word) in ("LATIN", "GREEK"):
        word = unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFKD", word)))
    return word


def _script(word: str) -> str:
    return unicodedata.name(word[0], "").partition(" ")[0] if word else ""


_STOP_STEMS = frozenset(map(_folded, STOP_WORDS))


class _Stemmers(threading.local):
    """Snowball's, one of each per thread: they may not be shared."""

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
