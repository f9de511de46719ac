"""The order in which a worker takes the corpora that have work."""

from collections.abc import Collection, Sequence

__all__ = ["next_turn"]


def next_turn(waiting: Sequence[str], after: str, *, leaving_out: Collection[str] = ()) -> str | None:
    """Returns the corpus that comes after one that was worked on: the next by id, in a circle, and itself last."""
    left = sorted(set(waiting) - set(leaving_out))
    return next((one for one in left if one > after), left[0] if left else None)
