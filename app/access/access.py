"""`Access`: what a caller may do, with which corpora and which documents."""

from dataclasses import dataclass

from core.errors import Forbidden
from core.filters import DocumentFilter, parse_filter
from core.keys import ApiKey, Scope

__all__ = ["EVERYTHING", "Access"]


@dataclass(frozen=True, kw_only=True)
class Access:
    """The rights of a caller. `corpora` are names (None: all); `where` is the filter of a key (None: all documents).

    `key` is the id of a key of the record; None without a key. `own_key` is the id of a key of the settings, whose
    holder has all rights and yet questions of its own.
    """

    scopes: frozenset[Scope]
    key: str | None = None
    own_key: str | None = None
    corpora: frozenset[str] | None = None
    where: DocumentFilter | None = None

    @classmethod
    def of_key(cls, key: ApiKey) -> "Access":
        return cls(
            scopes=key.scopes,
            key=key.id,
            corpora=key.corpora,
            where=None if key.filter is None else parse_filter(key.filter),
        )

    @property
    def asker(self) -> str:
        """Who asks questions: the id of a key of the record or the settings, '' without a key."""
        return self.key or self.own_key or ""

    @property
    def is_restricted(self) -> bool:
        return self.corpora is not None or self.where is not None

    def has(self, scope: Scope) -> bool:
        return scope in self.scopes or Scope.ADMIN in self.scopes

    def sees(self, corpus_name: str) -> bool:
        return self.corpora is None or corpus_name in self.corpora

    def check_name(self, corpus_name: str) -> None:
        """Raises `Forbidden` for the name of a corpus that the caller may not make."""
        if not self.sees(corpus_name):
            raise Forbidden(f"this key may not make a corpus {corpus_name!r}; use one of the names that it is for")

    def check_whole(self, what: str) -> None:
        """Raises `Forbidden` if the caller sees only some documents, and `what` concerns all of a corpus."""
        if self.where is not None:
            raise Forbidden(
                f"this key has a filter, and {what} all documents of the corpus; use a key without a filter"
            )


EVERYTHING = Access(scopes=frozenset(Scope))
"""The rights of a caller without a key on this machine, and of the keys in the settings."""
