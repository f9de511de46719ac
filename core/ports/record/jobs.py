"""Jobs, by id."""

from typing import Protocol

from core.jobs import Job

__all__ = ["Jobs"]


class Jobs(Protocol):
    async def get(self, job_id: str) -> Job:
        """Raises `NotFound`."""
        ...

    async def all(self, *, limit: int = 50) -> list[Job]:
        """Newest first."""
        ...

    async def cancel(self, job_id: str) -> Job:
        """Cancel what is not finished; what is stays. A final job is returned as it is."""
        ...

    async def resume(self, job_id: str, *, tokens: int | None = None) -> Job:
        """Queue what is paused again, with `tokens` more to spend from now on (None: as many as the last time).

        Raises `Conflict` where nothing is paused.
        """
        ...
