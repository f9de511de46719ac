"""Passages that begin within a table, with the names of its columns, which stand in an earlier passage.

The names are not stored with each passage, since most tables of a report share them, and searches would find the wrong
table (`indexer.chunking.packing`). Whoever reads `Net income | 19,881 | 19,442` needs them, so a passage gets them when
it is found: as the last part of its heading, where the chunker puts other names of columns.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from core.corpora import Corpus
from core.documents import HEADING_SEPARATOR, Chunk
from core.passage_context import begins_within_table, name_columns
from core.ports.record import Contents
from core.ports.retrieval import Hit, Query, Searcher, SearchResult, check_searched
from core.trace import Trace
from retrieval.presentation import read_before

_LOOKS = ((2, 100), (24, 20))
"""Passages before a passage that are looked at, and passages for which they are, the first of the hits. Mostly the
passage before has the header.
"""


class NamesColumns:
    """Implements `core.ports.retrieval.Searcher` by another searcher, whose hits get the names of their columns."""

    def __init__(self, inner: Searcher, contents: Contents) -> None:
        self._inner = inner
        self._contents = contents

    async def check(self, corpus: Corpus) -> None:
        await check_searched(self._inner, corpus)

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        result = await self._inner.search(query, trace)
        corpora = [part.corpus for part in query.parts] or [query.corpus]
        return replace(result, hits=await _name_columns_of_hits(result.hits, corpora, self._contents))


async def _name_columns_of_hits(hits: Sequence[Hit], corpora: Sequence[Corpus], contents: Contents) -> tuple[Hit, ...]:
    """Returns the hits in their order, with the passages of `name_columns_of`. Hits from the web stay as they are."""
    named: dict[tuple[str, str], Chunk] = {}
    for corpus in corpora:
        own = [hit.chunk for hit in hits if hit.url is None and hit.corpus == corpus.name]
        found = await name_columns_of(own, corpus.id, contents)
        named |= {(corpus.name, id): chunk for id, chunk in found.items()}
    return tuple(
        hit if chunk is None else replace(hit, chunk=chunk)
        for hit in hits
        for chunk in [named.get((hit.corpus, hit.chunk.id))]
    )


async def name_columns_of(chunks: Iterable[Chunk], corpus_id: str, contents: Contents) -> Mapping[str, Chunk]:
    """Returns, by id, the chunks that begin within a table, with a heading that ends with the names of its columns.

    Chunks of which no passage before has the names, and other chunks, are left out.
    """
    cut = {chunk.id: chunk for chunk in chunks if begins_within_table(chunk.heading, chunk.text)}
    named: dict[str, Chunk] = {}
    for distance, most in _LOOKS:
        left = [id for id in cut if id not in named][:most]
        before = await read_before(left, corpus_id, contents, distance)
        # Tables of tens of thousands of characters take tenths of a second, in which other requests are answered.
        columns = await asyncio.to_thread(_find_names, before) if before else {}
        named |= {id: _add_columns(cut[id], names) for id, names in columns.items() if names}
    return named


def _find_names(before: Mapping[str, tuple[str, list[str]]]) -> dict[str, str]:
    return {id: name_columns(text, texts) for id, (text, texts) in before.items()}


def _add_columns(chunk: Chunk, columns: str) -> Chunk:
    return replace(chunk, heading=f"{chunk.heading}{HEADING_SEPARATOR}{columns}" if chunk.heading else columns)
