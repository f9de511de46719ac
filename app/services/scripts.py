"""`ScriptCheck`: tells of documents whose script the embedding model does not know, where documents come in."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from app.doctor.script_check import MULTILINGUAL, describe_unread, find_unread_scripts
from core.ports.embedding import Embedder

__all__ = ["LOOKED_AT", "MOST_DOCUMENTS", "ScriptCheck", "may_be_foreign"]

LOOKED_AT = 20
"""Passages of a document, from its beginning."""
MOST_DOCUMENTS = 100
"""Documents of an ingest whose scripts are looked at."""
_LAST_LATIN = "\u024f"
_FEWEST_LETTERS = 200


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
