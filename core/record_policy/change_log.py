"""Rules of the change log, by which snapshots follow a corpus."""

__all__ = ["KEPT_SECONDS", "is_covered"]

KEPT_SECONDS = 3600
"""Rows of the change log are deleted after this time."""


def is_covered(since: int, *, deleted_up_to: int, generation: int) -> bool:
    """Whether the log holds every change after the generation `since`.

    `deleted_up_to` is the newest generation whose rows are deleted, `generation` the current one.
    """
    return deleted_up_to <= since <= generation
