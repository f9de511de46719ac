"""Runs async work of the application from a command, which is sync."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from app.container import Container
    from core.settings import Settings

__all__ = ["run_with_container"]

T = TypeVar("T")


def run_with_container(work: "Callable[[Container], Awaitable[T]]", settings: "Settings | None" = None) -> T:
    """Runs `work` with a container of its own and closes the container in any case."""
    from app.container import Container
    from core.settings import read_settings

    read = settings or read_settings()

    async def run() -> T:
        container = Container(read)
        try:
            return await work(container)
        finally:
            await container.close()

    return asyncio.run(run())
