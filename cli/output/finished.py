"""A line for each document of an ingest once it is final (`-v`)."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Protocol

from cli.output.console import counted, print_status
from core.documents import RevisionState
from core.errors import Unavailable
from indexer import Rejection

__all__ = ["FinishedDocuments", "ListedDocument", "follow_documents"]

_EVERY_SECONDS = 1.0
_SHARE = 0.1  # of the time, at most, that is spent on listing documents
_FINAL = frozenset({RevisionState.INDEXED, RevisionState.FAILED, RevisionState.CANCELLED, RevisionState.PAUSED})


class ListedDocument(Protocol):
    """A document of the record, or of the HTTP API."""

    @property
    def key(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def reason(self) -> str | None: ...
    @property
    def chunks(self) -> int: ...
    @property
    def updated_at(self) -> datetime: ...


class FinishedDocuments:
    """Prints each document once: its key, its passages and the seconds since the beginning, or why it failed.

    `shown` are the keys of the documents that it has printed, `shown_rejected` the number of rejections.
    """

    def __init__(self, keys: Collection[str]) -> None:
        self._keys = keys
        self._began: datetime | None = None
        self.shown: set[str] = set()
        self.shown_rejected = 0
        self._next = 0.0

    def begin(self, at: datetime) -> None:
        """Documents that were final before are not shown. `at` is a time of the record's clock."""
        self._began = self._began or at

    @property
    def is_due(self) -> bool:
        """Whether it is time to list the documents again."""
        return self._began is not None and time.monotonic() >= self._next

    def show(self, documents: Iterable[ListedDocument], took: float) -> None:
        """Shows documents that are final now. `took` is how long it took to list them."""
        self._next = time.monotonic() + max(_EVERY_SECONDS, took / _SHARE)
        for document in documents:
            if document.key in self._keys and document.state in _FINAL and document.key not in self.shown:
                self._show(document)

    def _show(self, document: ListedDocument) -> None:
        began = self._began or datetime.now(UTC)
        if document.updated_at < began:
            return
        self.shown.add(document.key)
        seconds = (document.updated_at - began).total_seconds()
        if document.state == RevisionState.INDEXED:
            print_status(f"indexed: {document.key}: {counted(document.chunks, 'passage')}, {seconds:.1f} s")
        else:
            print_status(f"{document.state}: {document.key}: {document.reason or ''}")

    def show_rejected(self, rejected: Sequence[Rejection]) -> None:
        """Shows rejections that are new in a growing list."""
        for rejection in rejected[self.shown_rejected :]:
            print_status(f"rejected: {rejection.source}: {rejection.reason}")
        self.shown_rejected = len(rejected)


@asynccontextmanager
async def follow_documents(
    list_documents: Callable[[], AsyncIterator[ListedDocument]], finished: FinishedDocuments, verbose: bool
) -> AsyncIterator[None]:
    """Shows documents while the block runs, and the last of them at its end."""
    if not verbose:
        yield
        return

    async def show() -> None:
        began = time.monotonic()
        try:
            listed = [document async for document in list_documents()]
        except Unavailable:
            return  # who waits for the job says so
        finished.show(listed, time.monotonic() - began)

    async def follow() -> None:
        while True:
            await asyncio.sleep(_EVERY_SECONDS / 4)
            if finished.is_due:  # a list that fails is repeated; the last list raises its error
                await show()

    task = asyncio.create_task(follow())
    try:
        yield
        await show()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
