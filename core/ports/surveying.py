"""The port of surveys: all documents that have given words somewhere, and not the best passages of them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.corpora import Corpus
from core.documents import Chunk, DocumentRef

Wording = frozenset[frozenset[str]]
"""One thing that is asked for, in each of several wordings, as stems (`core.text.terms`): a passage has it if it has
all stems of one of them.
"""


MOST_PASSAGES = 16
"""Passages of a document that a candidate names."""


@dataclass(frozen=True, kw_only=True)
class WordsAsked:
    """What a document must have. `together` should stand in one passage, with its title and heading; `anywhere` may
    stand in another passage.

    `kind` names a kind of documents: a document is of the kind if the title or the heading of its first passage has a
    wording of it. With `lacking`, documents that lack some of the words are wanted, too.
    """

    together: tuple[Wording, ...] = ()
    anywhere: tuple[Wording, ...] = ()
    kind: Wording = frozenset()
    lacking: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A document that has all words, or lacks some (`has_words` is False). `passages` is the number of its passages.

    `chunk_ids` are its passages with all of `together`, by position; if there are none (`is_together` is False), the
    first passage with most of them. Of more than `MOST_PASSAGES`, the first are given, and `left_out` counts the
    others. Of a document that lacks words, and if no words are asked for, the first passage is given. `is_of_kind`: the
    title or the heading of the first passage has the kind.
    """

    document_id: str
    chunk_ids: tuple[str, ...]
    passages: int
    has_words: bool
    is_together: bool
    is_of_kind: bool
    left_out: int = 0


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """Documents in a fixed order, those with all words first. `left_out` is the number of documents beyond the
    limit.

    `kind_is_known`: some document of the selection is of the kind, whether it has the words or not.
    """

    documents: tuple[Candidate, ...] = ()
    left_out: int = 0
    kind_is_known: bool = False


class DocumentFinder(Protocol):
    """Finds documents by the stems of all their passages, and reads passages of them.

    Documents outside of `documents` (None: all) do not count in any number. What the record does not have any more, or
    hides from the caller, is left out by `get_refs` and `get_chunks`.
    """

    async def find(
        self, corpus: Corpus, asked: WordsAsked, documents: frozenset[str] | None, limit: int
    ) -> Candidates: ...

    async def get_refs(self, corpus: Corpus, document_ids: Collection[str]) -> Mapping[str, DocumentRef]: ...

    async def get_chunks(self, corpus: Corpus, chunk_ids: Collection[str]) -> Mapping[str, Chunk]: ...

    async def list_chunks(self, corpus: Corpus, document_id: str) -> Sequence[Chunk]:
        """Returns all passages of a document, by position."""
        ...
