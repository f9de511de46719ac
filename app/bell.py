"""The doorbell: a Celery message that names a corpus and nothing else.

The record is the queue, so a message that is lost, repeated, late or reordered changes nothing.
"""

import asyncio
import logging
from pathlib import Path
from typing import Any

from core.errors import Unavailable
from core.settings import Settings

__all__ = ["TASK", "Bell", "make_celery", "recreate_broker"]

TASK = "hopweave.work"
_FILESYSTEM = "filesystem://"

_log = logging.getLogger("hopweave.app")


def make_celery(settings: Settings) -> Any:
    """A Celery application for the configured broker; it connects when first used."""
    from celery import Celery

    app = Celery("hopweave", set_as_current=False)
    app.conf.update(
        broker_url=settings.broker.url,
        task_ignore_result=True,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_default_queue="hopweave",
        task_serializer="json",
        accept_content=["json"],
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_enable_remote_control=False,
        broker_connection_retry_on_startup=True,
    )
    if settings.broker.url == _FILESYSTEM:
        folder = _broker_folder(settings.data_dir)
        for part in ("queue", "control", "processed"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        app.conf.broker_transport_options = {
            "data_folder_in": str(folder / "queue"),
            "data_folder_out": str(folder / "queue"),
            "control_folder": str(folder / "control"),
            "processed_folder": str(folder / "processed"),
            "store_processed": False,
            "polling_interval": 0.1,
        }
    return app


def recreate_broker(settings: Settings) -> None:
    """Empty the filesystem broker: it dies of a half-written message, and nothing is lost, since the record knows."""
    if settings.broker.url == _FILESYSTEM:
        for message in _broker_folder(settings.data_dir).rglob("*.msg"):
            message.unlink(missing_ok=True)  # the folders stay: others may be ringing at this moment


class Bell:
    """Rings for a corpus. Made lazily: importing Celery takes longer than most commands."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._celery: Any = None

    def ring(self, corpus_id: str) -> None:
        """Tell some worker that there is work; raises `Unavailable` where the broker cannot be reached."""
        from kombu.exceptions import OperationalError

        if self._celery is None:
            self._celery = make_celery(self._settings)
        try:
            self._celery.send_task(TASK, args=[corpus_id])
        except (OperationalError, OSError) as error:
            raise Unavailable(f"the broker cannot be reached: {error}; the work is queued and will be found") from error

    async def ring_soon(self, corpus_id: str) -> None:
        """Ring beside the event loop. A broker that is away is worth a warning: workers look for work themselves."""
        try:
            await asyncio.to_thread(self.ring, corpus_id)
        except Unavailable as error:
            _log.warning("%s", error)


def _broker_folder(data_dir: Path) -> Path:
    return data_dir / "broker"
