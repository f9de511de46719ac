"""The text index, with one folder for each corpus."""

import asyncio
from collections.abc import Collection, Sequence
from pathlib import Path
from threading import Lock

from core.execution.computing import compute
from core.ports.views import Scored, TextEntry
from core.text.query import TextQuery
from stores.corpus_folders import corpus_folder, delete_folder
from stores.lucene_query import render
from stores.tantivy import folder
from stores.tantivy.corpus_index import CorpusIndex, translate_errors

__all__ = ["TantivyTextIndex"]


class TantivyTextIndex:
    """Fills `core.ports.views.TextIndex` under `root`. Any number of processes read; one at a time writes a corpus."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = Lock()
        self._open: dict[str, tuple[tuple[int, int], CorpusIndex]] = {}

    async def write(self, corpus_id: str, entries: Sequence[TextEntry]) -> None:
        if entries:
            await asyncio.to_thread(lambda: self._open_or_create(corpus_id).write(entries))

    async def missing(self, corpus_id: str, ids: Sequence[str]) -> set[str]:
        def work() -> set[str]:
            index = self._open_existing(corpus_id)
            return set(ids) - index.find_existing(ids) if index and ids else set(ids)

        return await asyncio.to_thread(work)

    async def search(
        self, corpus_id: str, query: TextQuery, k: int, documents: Collection[str] | None = None
    ) -> list[Scored]:
        rendered = render(query)
        if rendered is None or k < 1 or (documents is not None and not documents):
            return []

        def work() -> list[Scored]:
            index = self._open_existing(corpus_id)
            return index.search(rendered, k, documents) if index else []

        return await compute(work)

    async def find_few(
        self, corpus_id: str, asked: Sequence[tuple[TextQuery, int]], documents: Collection[str] | None = None
    ) -> list[list[str]]:
        rendered = [(render(query), most) for query, most in asked]
        if documents is not None and not documents:
            return [[] for _ in asked]

        def work() -> list[list[str]]:
            index = self._open_existing(corpus_id)
            return index.find_few(rendered, documents) if index else [[] for _ in asked]

        return await compute(work)

    async def delete(self, corpus_id: str, ids: Sequence[str]) -> None:
        def work() -> None:
            index = self._open_existing(corpus_id)
            if index and ids:
                index.delete(ids)

        await asyncio.to_thread(work)

    async def delete_corpus(self, corpus_id: str) -> None:
        """Deletes the index of a corpus, even if it is damaged and cannot be read."""

        def work() -> None:
            place = self._folder(corpus_id)
            with self._lock:
                self._open.pop(corpus_id, None)
            with translate_errors(place):
                delete_folder(place)

        await asyncio.to_thread(work)

    async def count(self, corpus_id: str) -> int:
        def work() -> int:
            index = self._open_existing(corpus_id)
            return index.count() if index else 0

        return await asyncio.to_thread(work)

    async def ids(self, corpus_id: str) -> list[str]:
        """Returns all ids, sorted, to compare the index with the record."""

        def work() -> list[str]:
            index = self._open_existing(corpus_id)
            return index.ids() if index else []

        return await asyncio.to_thread(work)

    async def check(self) -> str:
        """Returns the version of tantivy after a look-up in the folder."""
        from importlib import metadata

        await self.count("0" * 32)  # an unknown corpus is an empty one
        return f"tantivy {metadata.version('tantivy')}"

    async def close(self) -> None:
        """Closes every open index. A later call opens them again."""
        with self._lock:
            self._open.clear()

    def _folder(self, corpus_id: str) -> Path:
        return corpus_folder(self._root, corpus_id)

    def _open_or_create(self, corpus_id: str) -> CorpusIndex:
        place = self._folder(corpus_id)
        while (index := self._open_existing(corpus_id)) is None:  # again, because another process may have deleted it
            with translate_errors(place):
                folder.create_index(place)
        return index

    def _open_existing(self, corpus_id: str) -> CorpusIndex | None:
        """Returns the current index. Another process may have deleted and created it since it was opened."""
        place = self._folder(corpus_id)
        with self._lock, translate_errors(place):
            now = folder.read_identity(place)
            if now is None:
                self._open.pop(corpus_id, None)
                return None
            known = self._open.get(corpus_id)
            if known is None or known[0] != now:
                known = self._open[corpus_id] = (now, CorpusIndex(place))
            return known[1]
