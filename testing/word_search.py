"""A searcher without an index, which ranks a handful of passages by shared words, for tests of reasoners."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from core.corpora import Corpus, CorpusSettings, Fine
from core.documents import Chunk, DocumentRef
from core.ports.retrieval import Hit, Query, SearchResult
from core.trace import Trace

__all__ = ["CORPUS", "RecordingSearcher", "hit"]

_WORD = re.compile(r"\w")
CORPUS = Corpus(
    id="corpus-1",
    name="people",
    settings=CorpusSettings(
        chunker="sentences", extractor="pattern", fine=Fine.AUTO, embedding_model="twin", dimension=64
    ),
    generation=1,
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
)


def hit(key: str, title: str, text: str, score: float = 1.0) -> Hit:
    """A document of one chunk, as a searcher gives it."""
    chunk = Chunk(
        id=f"{key}#0", document_id=key, view_id=f"{key}-view", position=0, text=text, heading="", page=None, span=None
    )
    return Hit(chunk=chunk, document=DocumentRef(id=key, key=key, title=title, metadata={}), score=score)


class RecordingSearcher:
    """Ranks documents by the words of four letters and more (in Chinese: the characters) that they share with the
    query; those that share none are not found. `queries` are all that were asked, each with the searcher's name.
    """

    def __init__(self, name: str, documents: Sequence[Hit], queries: list[tuple[str, Query]]) -> None:
        self._name = name
        self._documents = documents
        self._queries = queries

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        self._queries.append((self._name, query))
        wanted = _words(query.text)
        scored = [
            replace(one, score=float(len(wanted & _words(f"{one.document.title} {one.chunk.text}"))))
            for one in self._documents
            if query.documents is None or one.document.id in query.documents
        ]
        ranked = sorted((one for one in scored if one.score), key=lambda one: (-one.score, one.chunk.id))
        return SearchResult(hits=tuple(ranked[: query.k]), generation=1)


def _words(text: str) -> set[str]:
    words = set(re.findall(r"[a-z0-9à-öø-ÿа-яё]{4,}", text.casefold()))
    return words | {character for character in text if _WORD.match(character) and ord(character) > 0x2E7F}
