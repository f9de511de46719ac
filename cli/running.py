"""From a command, which is sync, into the application, which is not."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from app.container import Container
    from core.settings import Settings

__all__ = ["run_with_container"]

T = TypeVar("T")


def run_with_container(work: "Callable[[Container], Awaitable[T]]", settings: "Settings | None" = None) -> T:
    """Run `work` over a container of its own, and close that whatever happens."""
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
