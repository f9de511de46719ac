"""Lists of texts that a model writes: how many it is asked for, and which of them are kept."""

from collections.abc import Iterable

from reasoning.engine.session import Session

__all__ = ["format_limit", "take_distinct"]


def format_limit(limit: int | None) -> str:
    """Returns what a prompt says after "at most" where it asks for one text a fact; None is no limit."""
    return "one for each fact" if limit is None else str(limit)


def take_distinct(session: Session, texts: Iterable[str], limit: int | None, name: str) -> tuple[str, ...]:
    """Returns the first `limit` texts (None: all) that are neither empty nor a repetition in other case or spacing.

    If there are more, a note says so; `name` is what it calls them.
    """
    distinct: dict[str, str] = {}
    for text in filter(None, map(str.strip, texts)):
        distinct.setdefault(" ".join(text.casefold().split()), text)
    kept = tuple(distinct.values())
    if limit is not None and len(kept) > limit:
        session.trace.note(f"the model wrote {len(kept)} {name}; the first {limit} were used")
    return kept[:limit]
