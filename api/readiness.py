"""What `/readyz` and `/metrics` need of the container: whether this process is warm, and the counts of documents."""

import os
import time
from collections.abc import Sequence
from typing import Any

from app.container import Container
from app.services.warming import warm_up
from app.telemetry.prometheus import is_alive, shared_folder
from core.errors import HopweaveError
from core.execution.processes import freeze_objects
from core.ports.record.commits import DocumentCount

__all__ = ["Warmth", "read_documents"]

_COUNT_SECONDS = 10.0


_MARK = "warming-"


class Warmth:
    """Whether everything is loaded that the first search would wait for, or loading it took too long.

    Any process of a server may receive the first search, so all of them must have loaded everything. Each marks in the
    folder that they share that it has not.
    """

    def __init__(self, container: Container) -> None:
        self._container = container
        self._deadline = time.monotonic() + container.settings.api.warm_seconds
        self._is_done = False
        self.stage = "loading models"
        """What is being loaded, for messages."""
        self._folder = shared_folder()
        self._mark = None if self._folder is None else self._folder / f"{_MARK}{os.getpid()}"
        if self._mark is not None:
            self._mark.touch()

    @property
    def is_warm(self) -> bool:
        return time.monotonic() >= self._deadline or (self._is_done and not self._are_others_warming())

    async def warm_up(self) -> None:
        """Loads everything. An error that searches would raise again ends the loading, too."""
        try:
            await warm_up(self._container, self._report)
        finally:
            if self._folder is not None:
                freeze_objects()
            self._is_done = True
            self.stage = "other processes are loading"
            if self._mark is not None:
                self._mark.unlink(missing_ok=True)

    def _are_others_warming(self) -> bool:
        marks = [] if self._folder is None else self._folder.glob(f"{_MARK}*")
        return any(is_alive(int(mark.name.removeprefix(_MARK))) for mark in marks)

    def _report(self, stage: str) -> None:
        self.stage = stage


async def read_documents(state: Any, container: Container) -> Sequence[DocumentCount]:
    """Returns the counts of the record, which are read at most every ten seconds; none while it does not answer."""
    read_at, documents = getattr(state, "documents", (float("-inf"), ()))
    if time.monotonic() - read_at < _COUNT_SECONDS:
        counted: Sequence[DocumentCount] = documents
        return counted
    try:
        counted = await container.record.maintenance.count_documents()
    except HopweaveError:  # metrics of this process are served nevertheless; `/readyz` names the record
        return ()
    state.documents = time.monotonic(), counted
    return counted
