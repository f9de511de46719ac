"""The file store of an embedded installation: small originals in one database file, large ones in a folder."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from core.execution.threads import call_in_thread
from core.ids import content_hash
from stores.corpus_folders import corpus_folder
from stores.files.folder import FolderFileStore, original_path
from stores.sqlite.originals import SqliteOriginals

_SMALL = 32_768
"""Bytes of the largest original in the database. A file of its own takes a block of 4 KB more or less in vain."""

_BATCH_BYTES = 4_000_000


class PackedFileStore:
    """Fills `core.ports.files.FileStore` under `root`.

    Small originals of an older installation are in the folder, and are found there.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._small = SqliteOriginals(root / "small.db")
        self._large = FolderFileStore(root)

    async def put(self, corpus_id: str, contents: Iterable[bytes]) -> list[str]:
        corpus_folder(self._root, corpus_id)
        return await asyncio.to_thread(self._put, corpus_id, contents)

    async def get(self, corpus_id: str, name: str) -> bytes:
        original_path(corpus_folder(self._root, corpus_id), name)
        found = await call_in_thread(lambda: self._small.get(corpus_id, name))
        return await self._large.get(corpus_id, name) if found is None else found

    async def put_derived(self, corpus_id: str, name: str, content: bytes) -> None:
        await self._large.put_derived(corpus_id, name, content)

    async def get_derived(self, corpus_id: str, name: str) -> bytes | None:
        return await self._large.get_derived(corpus_id, name)

    async def delete(self, corpus_id: str, names: Iterable[str]) -> None:
        listed = list(names)
        await self._large.delete(corpus_id, listed)
        if listed:
            await asyncio.to_thread(self._small.delete, corpus_id, listed)

    async def delete_corpus(self, corpus_id: str) -> None:
        await self._large.delete_corpus(corpus_id)
        await asyncio.to_thread(self._small.delete_corpus, corpus_id)

    async def names(self, corpus_id: str) -> list[str]:
        large = await self._large.names(corpus_id)
        return sorted({*large, *await asyncio.to_thread(self._small.names, corpus_id)})

    async def check(self) -> str:
        """Returns the folder. Raises `Unavailable` if it cannot be written."""
        return await self._large.check()

    async def close(self) -> None:
        """Closes the database file. A later call opens it again."""
        await asyncio.to_thread(self._small.close)

    def _put(self, corpus_id: str, contents: Iterable[bytes]) -> list[str]:
        names: list[str] = []
        batch: list[bytes] = []
        size = 0
        for content in contents:
            if len(content) > _SMALL:
                names += self._large.put_now(corpus_id, [content])
                continue
            names.append(content_hash(content))
            batch.append(content)
            size += len(content)
            if size > _BATCH_BYTES:
                self._small.put(corpus_id, batch)
                batch, size = [], 0
        if batch:
            self._small.put(corpus_id, batch)
        return names
