"""The notifier: tells workers that a corpus has work, by a Celery message with the id of the corpus.

The record is the queue, so a message that is lost, repeated, late or reordered changes nothing.
"""

from typing import Protocol

__all__ = ["TASK", "Notifier"]

TASK = "hopweave.work"


class Notifier(Protocol):
    """Sends messages. Its client is made on first use: importing Celery takes longer than most commands."""

    def notify(self, corpus_id: str) -> None:
        """Tells a worker that the corpus has work. Blocks for a moment. Raises `Unavailable`."""
        ...

    async def notify_soon(self, corpus_id: str) -> None:
        """Does the same beside the event loop. A failure is logged: workers also look for work themselves."""
        ...

    async def close(self) -> None:
        """Closes the connection, if there is one. The next message opens another."""
        ...
