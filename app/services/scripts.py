"""Scripts that an embedding model cannot read: vectors of such texts are noise.

The doctor looks for them in a corpus. `ScriptCheck` looks for them where documents come in.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from core.ports.embedding import Embedder, TokenCounter

MULTILINGUAL = "BAAI/bge-m3"
"""A model that knows the scripts of some hundred languages, for messages."""

_WORD = re.compile(r"[^\W\d_]+")
_FEWEST_LETTERS = 200  # of a script; with fewer it is not examined
_LARGEST_UNKNOWN_SHARE = 0.1
_FEWEST_LETTERS_A_TOKEN = 1.3
"""A tokenizer that knows a script joins its letters; otherwise it cuts words into single letters."""
_SIGNS_ARE_WORDS = frozenset({"CJK", "HIRAGANA", "KATAKANA"})


def find_unread_scripts(texts: Iterable[str], tokens: TokenCounter) -> list[str]:
    """Returns the scripts of `texts` that the model does not know, judged by its tokenizer, sorted."""
    return sorted(
        script for script, words in _group_words_by_script(texts).items() if _is_unread(script, words, tokens)
    )


def describe_unread(scripts: Iterable[str], model: str) -> str:
    """Returns what it means that a model does not know scripts, without the remedy."""
    return (
        f"{model} does not know the script of these texts ({', '.join(scripts).lower()}): their vectors say nothing, "
        "so passages are found by words and names alone"
    )


def _group_words_by_script(texts: Iterable[str]) -> Mapping[str, list[str]]:
    """Returns the words by the script of their first letter, as Unicode names it (LATIN, CYRILLIC, CJK …)."""
    words: dict[str, list[str]] = defaultdict(list)
    for text in texts:
        for word in _WORD.findall(text):
            words[unicodedata.name(word[0], "UNNAMED").partition(" ")[0]].append(word)
    return words


def _is_unread(script: str, words: list[str], tokens: TokenCounter) -> bool:
    letters = sum(map(len, words))
    unknown = tokens.unknown(words)
    if letters < _FEWEST_LETTERS or unknown is None:
        return False
    counted = sum(tokens.count(words)) or 1
    if sum(unknown) / counted >= _LARGEST_UNKNOWN_SHARE:
        return True
    return script not in _SIGNS_ARE_WORDS and letters / counted <= _FEWEST_LETTERS_A_TOKEN


LOOKED_AT = 20
"""Passages of a document, from its beginning."""
MOST_DOCUMENTS = 100
"""Documents of an ingest whose scripts are looked at."""
_LAST_LATIN = "\u024f"


def may_be_foreign(texts: Sequence[str]) -> bool:
    """Whether the first passages of a document have so many letters that are not Latin that the model may not know
    their script.
    """
    foreign = (letter for letter in chain.from_iterable(texts[:LOOKED_AT]) if letter > _LAST_LATIN)
    return len(list(islice(foreign, _FEWEST_LETTERS))) == _FEWEST_LETTERS


@dataclass
class ScriptCheck:
    """Collects documents, and makes one note for all of them whose script `embedder` does not know."""

    embedder: Embedder
    _keys: list[str] = field(default_factory=list)
    _scripts: set[str] = field(default_factory=set)

    def add(self, key: str, texts: Sequence[str]) -> None:
        """Looks at the first passages of a document."""
        if not self.embedder.dimension:  # a corpus without vectors
            return
        if not may_be_foreign(texts):
            return
        if found := find_unread_scripts(texts[:LOOKED_AT], self.embedder.tokens):
            self._keys.append(key)
            self._scripts.update(found)

    @property
    def notes(self) -> tuple[tuple[str, str], ...]:
        """The note with the key of the first of the documents; nothing if there is none."""
        if not self._keys:
            return ()
        others = f" (and of {len(self._keys) - 1:,} more)" if len(self._keys) > 1 else ""
        note = (
            f"{describe_unread(sorted(self._scripts), self.embedder.model)}{others}; a corpus of them needs a model "
            f"that knows it, such as {MULTILINGUAL} (`--embedding sentence-transformers:{MULTILINGUAL}`, with the "
            "extra `models`)"
        )
        return ((self._keys[0], note),)
