"""The notifier of an embedded installation: messages are files in the data folder."""

import asyncio
import logging
from typing import Any

from app.broker.broker import make_celery
from app.broker.notifier import TASK
from core.errors import Unavailable
from core.settings import Settings

_log = logging.getLogger("hopweave.app")


class FolderNotifier:
    """Writes a message for each call."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._celery: Any = None

    def notify(self, corpus_id: str) -> None:
        from kombu.exceptions import OperationalError

        if self._celery is None:
            self._celery = make_celery(self._settings)
        try:
            self._celery.send_task(TASK, args=[corpus_id])
        except (OperationalError, OSError) as error:
            raise Unavailable(f"the broker cannot be reached: {error}; the work is queued and will be found") from error

    async def notify_soon(self, corpus_id: str) -> None:
        try:
            await asyncio.to_thread(self.notify, corpus_id)
        except Unavailable as error:
            _log.warning("%s", error)

    async def close(self) -> None:
        """Does nothing: there is no connection."""
