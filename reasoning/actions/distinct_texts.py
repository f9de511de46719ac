"""`take_distinct`: bounds a list of texts that a model wrote, and drops repetitions."""

from collections.abc import Iterable

from reasoning.engine.session import Session

__all__ = ["take_distinct"]


def take_distinct(session: Session, texts: Iterable[str], limit: int, name: str) -> tuple[str, ...]:
    """Returns the first `limit` texts that are neither empty nor a repetition in other case or spacing.

    If there are more, a note says so; `name` is what it calls them.
    """
    distinct: dict[str, str] = {}
    for text in filter(None, map(str.strip, texts)):
        distinct.setdefault(" ".join(text.casefold().split()), text)
    kept = tuple(distinct.values())
    if len(kept) > limit:
        session.trace.note(f"the model wrote {len(kept)} {name}; the first {limit} were used")
    return kept[:limit]
