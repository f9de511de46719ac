"""Lists that models write: bounded, and each thing once."""

from collections.abc import Iterable

from reasoning.engine.session import Session

__all__ = ["bounded"]


def bounded(session: Session, texts: Iterable[str], limit: int, what: str) -> tuple[str, ...]:
    """The first `limit` of the texts, empty and repeated ones left out; what is dropped beyond them is noted."""
    distinct: dict[str, str] = {}
    for text in filter(None, map(str.strip, texts)):
        distinct.setdefault(" ".join(text.casefold().split()), text)
    kept = tuple(distinct.values())
    if len(kept) > limit:
        session.trace.note(f"the model wrote {len(kept)} {what}; the first {limit} were used")
    return kept[:limit]
