"""Runs async work of the application from a command, which is sync."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from app.container import Container
    from core.settings import Settings


T = TypeVar("T")


def run_with_container(
    work: "Callable[[Container], Awaitable[T]]", settings: "Settings | None" = None, *, creates: bool = False
) -> T:
    """Runs `work` with a container of its own and closes the container in any case.

    Only work that `creates` something may make a data folder. Other work finds an empty folder where there is none.
    """
    from app.container import Container
    from core.settings import read_settings

    async def run(used: "Settings") -> T:
        container = Container(used)
        try:
            return await work(container)
        finally:
            await container.close()

    with present_folder(settings or read_settings(), creates=creates) as used:
        return asyncio.run(run(used))


@contextmanager
def present_folder(settings: "Settings", *, creates: bool) -> "Iterator[Settings]":
    """Yields the settings, with a temporary data folder if there is none and the work may not make it."""
    from app.composition import choose_composition

    if creates or choose_composition(settings).exists():
        with _private_files() if creates and not settings.on_servers else nullcontext():
            yield settings
        return
    with TemporaryDirectory(prefix="hopweave-") as folder:
        yield settings.model_copy(update={"data_dir": Path(folder)})


@contextmanager
def _private_files() -> Iterator[None]:
    """Makes files of this process for its user alone: what is written meanwhile lies in the data folder."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)
