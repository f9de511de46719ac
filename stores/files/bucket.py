"""The file store in an S3 bucket, from which workers on other hosts read what the API received."""

import asyncio
import os
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import obstore
from obstore.store import S3Store

from core.errors import NotFound, Unavailable
from core.ids import content_hash
from stores.corpus_folders import corpus_folder
from stores.files.address import BucketAddress
from stores.files.error_translation import translate_errors
from stores.files.layout import derived_path, is_name, original_path

__all__ = ["BucketFileStore"]

_PARALLEL = 16
# A part of an upload must be sent within the read timeout, so uploads have a longer one. `put` first checks whether the
# object exists, with the short timeout, which detects a server that hangs.
_READ_TIMEOUT, _UPLOAD_TIMEOUT = "4s", "60s"
_SLOW_SECONDS, _LEAST_RATE = 4.0, 64 * 1024
"""An original must come in the seconds of the first answer, and beyond them at this many bytes a second."""
_PART, _PARTS_AT_ONCE = 8 << 20, 4


class BucketFileStore:
    """Fills `core.ports.files.FileStore`: prefix/<corpus>/<first two digits>/<hash>, in any server that speaks S3.

    `url` is s3://bucket or s3://bucket/prefix; server, region and credentials are in the environment, in Amazon's own
    variables. Raises `InvalidSettings`. Nothing connects before the first call, and no thread or loop is kept, so one
    store serves any number of event loops. It does not survive a fork: the SDK's threads stay with the parent.
    """

    def __init__(self, url: str) -> None:
        self._address = BucketAddress.read(url, os.environ)

    async def put(self, corpus_id: str, contents: Iterable[bytes]) -> list[str]:
        return await asyncio.to_thread(self._put, _corpus_folder(corpus_id), contents)

    async def get(self, corpus_id: str, name: str) -> bytes:
        key = original_path(_corpus_folder(corpus_id), name).as_posix()

        def work() -> bytes:
            with translate_errors(self._address, f"no original {name} is kept for corpus {corpus_id}"):
                content = self._read(key)
            if content_hash(content) != name:  # a proxy's own page, or part of the object: it must not be indexed
                raise Unavailable(
                    f"{self._address} sends other bytes than were stored as {key}: check what lies between, and "
                    "AWS_ENDPOINT_URL; if the object itself is damaged, delete it and hand the document in again"
                )
            return content

        return await asyncio.to_thread(work)

    async def put_derived(self, corpus_id: str, name: str, content: bytes) -> None:
        original = original_path(_corpus_folder(corpus_id), name)
        key = derived_path(original).as_posix()

        def work() -> None:
            if self._has_object(original.as_posix()):
                with translate_errors(self._address):
                    obstore.put(self._writing, key, content, chunk_size=_PART, max_concurrency=_PARTS_AT_ONCE)
            if not self._has_object(original.as_posix()):  # `delete` deletes the original first
                self._delete_one(key)

        await asyncio.to_thread(work)

    async def get_derived(self, corpus_id: str, name: str) -> bytes | None:
        key = derived_path(original_path(_corpus_folder(corpus_id), name)).as_posix()

        def work() -> bytes | None:
            try:
                with translate_errors(self._address, must_say=False):
                    return self._read(key)
            except NotFound:
                return None

        return await asyncio.to_thread(work)

    async def delete(self, corpus_id: str, names: Iterable[str]) -> None:
        paths = [original_path(_corpus_folder(corpus_id), name) for name in names]
        await asyncio.to_thread(self._delete, [path.as_posix() for path in paths])
        await asyncio.to_thread(self._delete, [derived_path(path).as_posix() for path in paths])

    async def delete_corpus(self, corpus_id: str) -> None:
        corpus = _corpus_folder(corpus_id)

        def work() -> None:
            for keys in self._list_pages(corpus):
                self._delete(keys)

        await asyncio.to_thread(work)

    async def names(self, corpus_id: str) -> list[str]:
        corpus = _corpus_folder(corpus_id)

        def work() -> list[str]:
            names = (key.rpartition("/")[2] for keys in self._list_pages(corpus) for key in keys)
            return sorted(name for name in names if is_name(name))

        return await asyncio.to_thread(work)

    async def check(self) -> str:
        """Returns the bucket after it has answered. Raises `Unavailable` or `InvalidSettings`."""

        def work() -> str:
            # Only the response to a GET says whether the object or the bucket is missing.
            with suppress(NotFound), translate_errors(self._address):
                obstore.get(self._reading, ".check")
            return f"the bucket {self._address}"

        return await asyncio.to_thread(work)

    async def close(self) -> None:
        """Does nothing: idle connections are closed by the SDK."""

    def _read(self, key: str) -> bytes:
        """Reads an object. Raises `Unavailable` if it comes too slowly, which no limit of silence notices."""
        began, size, parts = time.monotonic(), 0, []
        for part in obstore.get(self._reading, key).stream(min_chunk_size=1):
            parts.append(part)
            size += len(part)
            if time.monotonic() - began > _SLOW_SECONDS + size / _LEAST_RATE:
                raise Unavailable(
                    f"{self._address} sends {key} too slowly ({size:,} bytes until now): check its server, and "
                    "AWS_ENDPOINT_URL"
                )
        return b"".join(parts)

    def _put(self, corpus: Path, contents: Iterable[bytes]) -> list[str]:
        names: list[str] = []
        remaining = iter(contents)
        with ThreadPoolExecutor(_PARALLEL, thread_name_prefix="originals") as threads:
            while some := list(islice(remaining, _PARALLEL)):  # `contents` may be a generator
                names += threads.map(lambda content: self._put_one(corpus, content), some)
        return names

    def _put_one(self, corpus: Path, content: bytes) -> str:
        name = content_hash(content)
        key = original_path(corpus, name).as_posix()
        if not self._has_object(key):
            with translate_errors(self._address):
                obstore.put(self._writing, key, content, chunk_size=_PART, max_concurrency=_PARTS_AT_ONCE)
        return name

    def _has_object(self, key: str) -> bool:
        try:
            with translate_errors(self._address, must_say=False):
                obstore.head(self._reading, key)
        except NotFound:
            return False
        return True

    def _list_pages(self, corpus: Path) -> Iterator[list[str]]:
        with translate_errors(self._address):
            for page in obstore.list(self._reading, corpus.as_posix(), chunk_size=1000):
                yield [meta["path"] for meta in page]

    def _delete(self, keys: Iterable[str]) -> None:
        with ThreadPoolExecutor(_PARALLEL, thread_name_prefix="originals") as threads:
            for _ in threads.map(self._delete_one, keys):
                pass  # the iterator raises what a thread raised

    def _delete_one(self, key: str) -> None:
        with (
            suppress(NotFound),
            translate_errors(self._address, must_say=False),
        ):  # some servers report a missing object
            obstore.delete(self._writing, key)

    @cached_property
    def _reading(self) -> S3Store:
        return self._connect(_READ_TIMEOUT)

    @cached_property
    def _writing(self) -> S3Store:
        return self._connect(_UPLOAD_TIMEOUT)

    def _connect(self, read_timeout: str) -> S3Store:
        """Opens a client. obstore reads from the environment what is not given here."""
        options: dict[str, Any] = {
            "bucket": self._address.bucket,
            "prefix": self._address.prefix or None,
            "region": self._address.region,
            # Servers other than Amazon S3 lack bulk deletion or implement it differently.
            "disable_bulk_delete": True,
            # Not as `client_options`, which would replace those from the environment.
            "connect_timeout": "2s",
            "read_timeout": read_timeout,
            "timeout": "10m",
            "retry_config": {"max_retries": 2, "retry_timeout": timedelta(seconds=2)},
        }
        if self._address.endpoint:
            options["endpoint"] = self._address.endpoint
        with translate_errors(self._address):
            return S3Store(**options)


def _corpus_folder(corpus_id: str) -> Path:
    return corpus_folder(Path(), corpus_id)
