"""A searcher without an index, which ranks a handful of passages by shared words, for tests of reasoners; and a finder
of documents over a searcher.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from core.corpora import Corpus, CorpusSettings, Fine
from core.documents import Chunk, DocumentRef
from core.ports.retrieval import MAX_K, Hit, Query, Searcher, SearchResult
from core.ports.surveying import Candidate, Candidates, Wording, WordsAsked
from core.text.terms import split_words
from core.trace import Trace

__all__ = ["CORPUS", "FoundBySearch", "RecordingSearcher", "hit"]

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
    query; passages that share none are not found. `queries` are all queries so far, each with the searcher's name.
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


class FoundBySearch:
    """Implements `core.ports.surveying.DocumentFinder` for documents of one passage that a searcher finds by `text`."""

    def __init__(self, searcher: Searcher, text: str) -> None:
        self._searcher = searcher
        self._text = text
        self._found: dict[str, Hit] = {}

    async def find(self, corpus: Corpus, asked: WordsAsked, documents: frozenset[str] | None, limit: int) -> Candidates:
        query = Query(corpus=corpus, text=self._text, k=MAX_K, documents=documents)
        hits = (await self._searcher.search(query, Trace())).hits
        self._found |= {found.document.id: found for found in hits}
        having = [found for found in hits if all(_has(found, one) for one in (*asked.together, *asked.anywhere))]
        lacking = [found for found in hits if found not in having] if asked.lacking else []
        listed = [
            Candidate(
                document_id=found.document.id,
                chunk_ids=(found.chunk.id,),
                passages=1,
                has_words=found in having,
                is_together=found in having,
                is_of_kind=False,
            )
            for found in [*having, *lacking]
        ]
        return Candidates(documents=tuple(listed[:limit]), left_out=max(0, len(listed) - limit))

    async def get_refs(self, corpus: Corpus, document_ids: Collection[str]) -> Mapping[str, DocumentRef]:
        del corpus
        return {id: self._found[id].document for id in document_ids if id in self._found}

    async def get_chunks(self, corpus: Corpus, chunk_ids: Collection[str]) -> Mapping[str, Chunk]:
        del corpus
        chunks = {found.chunk.id: found.chunk for found in self._found.values()}
        return {id: chunks[id] for id in chunk_ids if id in chunks}

    async def list_chunks(self, corpus: Corpus, document_id: str) -> Sequence[Chunk]:
        del corpus
        return [self._found[document_id].chunk] if document_id in self._found else []


def _has(found: Hit, wording: Wording) -> bool:
    stems = {word.stem for word in split_words(f"{found.document.title}\n{found.chunk.text}")}
    return any(wanted <= stems for wanted in wording)


def _words(text: str) -> set[str]:
    words = set(re.findall(r"[a-z0-9à-öø-ÿа-яё]{4,}", text.casefold()))
    return words | {character for character in text if _WORD.match(character) and ord(character) > 0x2E7F}
