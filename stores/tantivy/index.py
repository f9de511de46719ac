"""The text index of every corpus, one folder each."""

import asyncio
from collections.abc import Collection, Sequence
from pathlib import Path
from threading import Lock

from core.ports.views import Scored, TextEntry
from core.text.query import TextQuery
from stores.corpus_folders import corpus_folder, remove_folder
from stores.lucene_query import render
from stores.tantivy import folder
from stores.tantivy.corpus_index import CorpusIndex, translated

__all__ = ["TantivyTextIndex"]


class TantivyTextIndex:
    """Fills `core.ports.views.TextIndex` under `root`. Any number of processes read; one at a time writes a corpus."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = Lock()
        self._open: dict[str, tuple[tuple[int, int], CorpusIndex]] = {}

    async def write(self, corpus_id: str, entries: Sequence[TextEntry]) -> None:
        if entries:
            await asyncio.to_thread(lambda: self._made(corpus_id).write(entries))

    async def missing(self, corpus_id: str, ids: Sequence[str]) -> set[str]:
        def work() -> set[str]:
            index = self._existing(corpus_id)
            return set(ids) - index.present(ids) if index and ids else set(ids)

        return await asyncio.to_thread(work)

    async def search(
        self, corpus_id: str, query: TextQuery, k: int, documents: Collection[str] | None = None
    ) -> list[Scored]:
        rendered = render(query)
        if rendered is None or k < 1 or (documents is not None and not documents):
            return []

        def work() -> list[Scored]:
            index = self._existing(corpus_id)
            return index.search(rendered, k, documents) if index else []

        return await asyncio.to_thread(work)

    async def delete(self, corpus_id: str, ids: Sequence[str]) -> None:
        def work() -> None:
            index = self._existing(corpus_id)
            if index and ids:
                index.delete(ids)

        await asyncio.to_thread(work)

    async def delete_corpus(self, corpus_id: str) -> None:
        """Also the way out of an index that cannot be read any more."""

        def work() -> None:
            place = self._folder(corpus_id)
            with self._lock:
                self._open.pop(corpus_id, None)
            with translated(place):
                remove_folder(place)

        await asyncio.to_thread(work)

    async def count(self, corpus_id: str) -> int:
        def work() -> int:
            index = self._existing(corpus_id)
            return index.count() if index else 0

        return await asyncio.to_thread(work)

    async def ids(self, corpus_id: str) -> list[str]:
        """All entries there are, sorted: for comparing the index with the record."""

        def work() -> list[str]:
            index = self._existing(corpus_id)
            return index.ids() if index else []

        return await asyncio.to_thread(work)

    async def check(self) -> str:
        """The engine's version, once the folder has been looked into."""
        from importlib import metadata

        await self.count("0" * 32)  # an unknown corpus is an empty one
        return f"tantivy {metadata.version('tantivy')}"

    async def close(self) -> None:
        """Let go of every open index; a later call opens them again."""
        with self._lock:
            self._open.clear()

    def _folder(self, corpus_id: str) -> Path:
        return corpus_folder(self._root, corpus_id)

    def _made(self, corpus_id: str) -> CorpusIndex:
        place = self._folder(corpus_id)
        while (index := self._existing(corpus_id)) is None:  # again where it was dropped in between
            with translated(place):
                folder.create(place)
        return index

    def _existing(self, corpus_id: str) -> CorpusIndex | None:
        """The index as it is on disk now: another process may have dropped it, and made another."""
        place = self._folder(corpus_id)
        with self._lock, translated(place):
            now = folder.identity(place)
            if now is None:
                self._open.pop(corpus_id, None)
                return None
            known = self._open.get(corpus_id)
            if known is None or known[0] != now:
                known = self._open[corpus_id] = (now, CorpusIndex(place))
            return known[1]
