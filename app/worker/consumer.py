"""Celery's consumer, which also outlives answers of a broker that cannot be read. `app/worker/process.py` names it."""

import time
from typing import Any

from celery.worker.consumer import Consumer

from app.broker.broker import GARBLED

_PAUSE_SECONDS = 1.0


class PatientConsumer(Consumer):  # type: ignore[misc]  # Celery has no types
    """Connects again after errors that clients' parsers raise, as after a lost connection.

    Celery alone would end the process after such an error, and its replacement, too, as long as the broker, or another
    server in its place, answers like that. Errors of tasks do not come here.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.connection_errors = (*self.conninfo.connection_errors, *GARBLED)

    def on_connection_error_before_connected(self, exc: Exception) -> None:
        super().on_connection_error_before_connected(exc)
        time.sleep(_PAUSE_SECONDS)  # Celery's own pauses are for the errors that it knows

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        super().on_connection_error_after_connected(exc)
        time.sleep(_PAUSE_SECONDS)
