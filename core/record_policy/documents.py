"""Rules of lists of documents: pages of them, and what matches filters or is dated, which is kept in memory.

Rules of reindexing come last: when a shadow corpus may be made, and when it may take the name of its corpus.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from core.corpora import Corpus, CorpusSettings
from core.documents import Document, DocumentRef
from core.errors import Conflict, NotFound
from core.filters import DocumentFilter
from core.ids import new_id
from core.ports.record.corpora import DocumentPage, ReindexDifference

Row = TypeVar("Row")


def make_page(rows: Sequence[Row], limit: int, load: Callable[[Row], Document]) -> DocumentPage:
    """Makes a page of at most `limit` documents. `rows` has an extra document if there are more."""
    data = tuple(load(row) for row in rows[:limit])
    return DocumentPage(data=data, next_cursor=data[-1].key if data and len(rows) > limit else None)


_MOST_IDS = 1_000_000
"""Some 120 MB."""
_MOST_FILTERS = 10_000
"""Filters that match nothing take memory, too."""


@dataclass(frozen=True, kw_only=True)
class Matches:
    """The documents that matched at a version of the corpus."""

    version: int
    ids: frozenset[str]

    def follow(self, version: int, changed: Collection[str], matching: Collection[str]) -> "Matches":
        """Returns the documents at a later version. The documents `changed` have changed since, of which `matching`
        match. If the same documents match, the set is the same object: what was computed from it need not be computed
        again.
        """
        same = all((id in self.ids) == (id in matching) for id in changed)
        return Matches(version=version, ids=self.ids if same else self.ids.difference(changed).union(matching))


class MatchCache:
    """The matches of the last filters, of all corpora. Threads may use it at once.

    A key is whatever tells two collections of documents apart: a number that no other corpus gets, and whether
    documents that are disabled are among them.
    """

    def __init__(self, *, most_ids: int = _MOST_IDS) -> None:
        self._most_ids = most_ids
        self._lock = threading.Lock()
        self._matches: OrderedDict[tuple[Hashable, str], Matches] = OrderedDict()

    def get(self, key: Hashable, where: DocumentFilter) -> Matches | None:
        with self._lock:
            found = self._matches.get(at := _key(key, where))
            if found is not None:
                self._matches.move_to_end(at)
            return found

    def put(self, key: Hashable, where: DocumentFilter, matches: Matches) -> frozenset[str]:
        """Keeps matches, unless newer matches are kept; the least recently used matches make room.

        Returns their ids, as the set that was kept before if it is equal.
        """
        with self._lock:
            at = _key(key, where)
            known = self._matches.get(at)
            if known is not None and known.ids == matches.ids:
                matches = replace(matches, ids=known.ids)
            if known is None or known.version < matches.version:
                self._matches[at] = matches
            self._matches.move_to_end(at)
            total = sum(len(match.ids) for match in self._matches.values())
            while total > self._most_ids or len(self._matches) > _MOST_FILTERS:
                _, evicted = self._matches.popitem(last=False)
                total -= len(evicted.ids)
            return matches.ids


_MOST_DATED = 100


@dataclass(frozen=True, kw_only=True)
class DatedDocuments:
    """The documents that state something on their validity, at a version of the corpus."""

    version: int
    refs: Mapping[str, DocumentRef]


class DatedCache:
    """The dated documents of the corpora that were searched last. Threads may use it at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: OrderedDict[Hashable, DatedDocuments] = OrderedDict()

    def get(self, corpus: Hashable) -> DatedDocuments | None:
        with self._lock:
            if corpus in self._of:
                self._of.move_to_end(corpus)
            return self._of.get(corpus)

    def put(self, corpus: Hashable, version: int, refs: Mapping[str, DocumentRef]) -> Mapping[str, DocumentRef]:
        """Keeps the documents, unless newer ones are kept; the corpus that was used longest ago makes room. Returns
        `refs`, as the mapping that was kept before if it is equal.
        """
        with self._lock:
            known = self._of.get(corpus)
            if known is not None and known.refs is not refs and _are_same(known.refs, refs):
                refs = known.refs
            if known is None or known.version < version:
                self._of[corpus] = DatedDocuments(version=version, refs=refs)
            self._of.move_to_end(corpus)
            while len(self._of) > _MOST_DATED:
                self._of.popitem(last=False)
            return refs


def _are_same(known: Mapping[str, DocumentRef], refs: Mapping[str, DocumentRef]) -> bool:
    """`DocumentRef` is equal to another one whatever their access."""
    return known == refs and all(known[id].access == ref.access for id, ref in refs.items())


def _key(key: Hashable, where: DocumentFilter) -> tuple[Hashable, str]:
    return key, where.digest


NO_DIFFERENCE = ReindexDifference(revisions=(), document_ids=())


def make_shadow(corpus: Corpus, settings: CorpusSettings) -> Corpus:
    """Returns a shadow corpus with the name that its job is shown under: the name that it will have.

    Raises `NotFound` if the corpus has no name.
    """
    if not corpus.name:
        raise NotFound(f"the corpus with the id {corpus.id!r} was deleted, or is being built itself")
    return replace(corpus, id=new_id(), settings=settings, generation=0)


def already_reindexing(name: str) -> Conflict:
    """Returns the error of `Reindexing.start` for a corpus that has a shadow corpus."""
    return Conflict(f"corpus {name!r} is being reindexed already; wait for that job, or cancel it and begin again")


def is_complete(difference: ReindexDifference, *, has_unfinished: bool) -> bool:
    """Whether a shadow corpus may take the name of its corpus.

    `has_unfinished`: some document of the shadow corpus is neither indexed, nor unreadable in both.
    """
    return not difference and not has_unfinished
