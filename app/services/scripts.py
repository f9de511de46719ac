"""`ScriptCheck`: tells of documents whose script the embedding model does not know, where documents come in."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from app.doctor.script_check import MULTILINGUAL, describe_unread, find_unread_scripts
from core.ports.embedding import Embedder

__all__ = ["LOOKED_AT", "ScriptCheck"]

LOOKED_AT = 20
"""Passages of a document, from its beginning."""
_LAST_LATIN = "\u024f"
_FEWEST_LETTERS = 200


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
        looked_at = texts[:LOOKED_AT]
        foreign = (letter for letter in chain.from_iterable(looked_at) if letter > _LAST_LATIN)
        if len(list(islice(foreign, _FEWEST_LETTERS))) < _FEWEST_LETTERS:
            return
        if found := find_unread_scripts(looked_at, self.embedder.tokens):
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
