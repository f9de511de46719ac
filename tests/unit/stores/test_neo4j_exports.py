"""Exports of Neo4j read in threads of their own: however many there are, other calls find a thread."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any, cast

from stores.neo4j.driver.database import Neo4jDatabase
from stores.neo4j.record.exporter import Neo4jExporter

_EXPORTS = 100


class _Slow:
    """A database that answers when it is told to."""

    def __init__(self) -> None:
        self.told = threading.Event()

    def read_now(self, work: Callable[..., Any]) -> bool:
        del work
        return self.told.wait()


async def test_exports_leave_threads_to_other_calls() -> None:
    database = _Slow()
    exporter = Neo4jExporter(cast("Neo4jDatabase", database))

    async def export() -> list[Any]:
        return [row async for row in exporter.rows("c", canonical=True)]

    exports = [asyncio.create_task(export()) for _ in range(_EXPORTS)]
    await asyncio.sleep(0)
    try:
        async with asyncio.timeout(60):
            assert await asyncio.to_thread(lambda: "answered") == "answered"
    finally:
        database.told.set()
    assert await asyncio.gather(*exports) == [[]] * _EXPORTS
