"""The index of one corpus, with blocking calls. Errors of tantivy become `Unavailable`."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from core.errors import Unavailable
from core.ports.views import Scored, TextEntry
from stores.lucene_query import encodable
from stores.tantivy.analysis import TOKENIZER, analyzer
from stores.tantivy.folder import read_file_identity

if TYPE_CHECKING:
    from tantivy import DocAddress, IndexWriter, Query, Searcher

__all__ = ["CorpusIndex", "translate_errors"]

_WRITER_BYTES = 50_000_000
_FILTER_BY_QUERY = 20_000
"""As a query, a filter costs some 5 to 30 µs for each document. Beyond this many, hits are read in order and
filtered.
"""
_OVERFETCH = 1000
_MOST_TIES = 5000
"""Passages of one form, such as lines of a log, all score the same: of so many, not all are read."""


class CorpusIndex:
    """The open index in one folder. Each call has its own writer and so frees the lock of tantivy; this costs 4 ms."""

    def __init__(self, folder: Path) -> None:
        from tantivy import Index

        self._folder = folder
        self._writing = Lock()
        self._current: tuple[tuple[int, int], Searcher] | None = None
        with translate_errors(folder):
            self._index = Index.open(str(folder))
            self._index.config_reader("manual", 0)  # the other policy needs a thread for each index
            self._index.register_tokenizer(TOKENIZER, analyzer())

    def write(self, entries: Sequence[TextEntry]) -> None:
        from tantivy import Document

        with self._writer() as writer:
            for entry in entries:
                writer.delete_documents_by_term("id", entry.id)
                fields = {"id": entry.id, "document_id": entry.document_id, "text": encodable(entry.text)}
                writer.add_document(Document.from_dict(fields))

    def delete(self, ids: Sequence[str]) -> None:
        with self._writer() as writer:
            for entry_id in ids:
                writer.delete_documents_by_term("id", entry_id)

    def search(self, query: str, k: int, documents: Collection[str] | None) -> list[Scored]:
        """Returns the `k` best entries, ties by id. `query` comes from `stores.lucene_query.render`."""
        with translate_errors(self._folder):
            searcher = self._refresh_searcher()
            parsed = self._index.parse_query(query, ["text"])
            if documents is None:
                return _search_best(searcher, parsed, k, None)
            if len(documents) <= _FILTER_BY_QUERY:
                return _search_best(searcher, _restrict(parsed, self._filter_by(documents)), k, None)
            return _search_best(searcher, parsed, k, frozenset(documents))

    def find_few(self, asked: Sequence[tuple[str | None, int]], documents: Collection[str] | None) -> list[list[str]]:
        """Returns for each query the ids of its entries, none if there are more than the number given with it."""
        with translate_errors(self._folder):
            searcher = self._refresh_searcher()
            allowed = None if documents is None else self._filter_by(documents)
            found: list[list[str]] = []
            for query, most in asked:
                few: list[str] = []
                if query is not None:
                    parsed = self._index.parse_query(query, ["text"])
                    few = _find_few(searcher, parsed if allowed is None else _restrict(parsed, allowed), most)
                found.append(few)
            return found

    def find_existing(self, ids: Sequence[str]) -> set[str]:
        """Returns those of `ids` that have an entry."""
        from tantivy import Query

        with translate_errors(self._folder):
            return set(
                _read_ids(self._refresh_searcher(), Query.term_set_query(self._index.schema, "id", list(set(ids))))
            )

    def ids(self) -> list[str]:
        from tantivy import Query

        with translate_errors(self._folder):
            return sorted(_read_ids(self._refresh_searcher(), Query.all_query()))

    def count(self) -> int:
        with translate_errors(self._folder):
            return self._refresh_searcher().num_docs

    def _refresh_searcher(self) -> "Searcher":
        """Returns a searcher of the last commit of any process. It is reused, because a new one has cold caches."""
        now = read_file_identity(self._folder / "meta.json")  # every commit replaces this file
        if self._current is None or self._current[0] != now:
            self._index.reload()
            self._current = now, self._index.searcher()
        return self._current[1]

    @contextmanager
    def _writer(self) -> "Iterator[IndexWriter]":
        """Yields a writer, and commits at the end. If the block raises, nothing is written."""
        with self._writing, translate_errors(self._folder):
            writer = self._index.writer(_WRITER_BYTES, 1)
            try:
                yield writer
                writer.commit()
            finally:
                writer.wait_merging_threads()  # also frees the lock

    def _filter_by(self, documents: Collection[str]) -> "Query":
        """Returns a query for the entries of these documents, without a score."""
        from tantivy import Query

        return Query.const_score_query(Query.term_set_query(self._index.schema, "document_id", list(documents)), 0.0)


def _restrict(query: "Query", allowed: "Query") -> "Query":
    from tantivy import Occur, Query

    return Query.boolean_query([(Occur.Must, query), (Occur.Must, allowed)])


@contextmanager
def translate_errors(folder: Path) -> Iterator[None]:
    """Raises errors of tantivy and the file system as Hopweave's, with the remedy."""
    try:
        yield
    except (ValueError, OSError) as error:  # tantivy raises ValueError for whatever it meets
        raise _make_error(folder, error) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # Rust's panic over a file that was cut; it cannot be imported
            raise
        raise _make_error(folder, error) from error


def _make_error(folder: Path, error: BaseException) -> Unavailable:
    if "LockBusy" in str(error):
        problem, remedy = "is being written by another process", "end it, or wait until it has finished"
    else:
        problem, remedy = f"cannot be used ({error})", "run `hopweave doctor --repair` to build it again"
    return Unavailable(f"the text index {folder} {problem}: {remedy}")


def _search_best(searcher: "Searcher", query: "Query", k: int, documents: frozenset[str] | None) -> list[Scored]:
    """The best `k`, ties by id, of all or of these documents.

    tantivy orders ties by its own numbers, so hits are read until the last one scores less than the k-th that counts,
    or until there are `_MOST_TIES` more than `k`.
    """
    limit = k + 16 if documents is None else 4 * k + _OVERFETCH
    while True:
        hits = searcher.search(query, limit, count=False).hits
        found = _read_hits(searcher, hits, k, documents)
        is_read = len(found) >= k and (hits[-1][0] < found[k - 1].score or len(found) > k + _MOST_TIES)
        if len(hits) < limit or is_read:
            found.sort(key=lambda hit: (-hit.score, hit.id))
            return found[:k]
        limit *= 4


def _read_hits(
    searcher: "Searcher", hits: "Sequence[tuple[Any, DocAddress]]", k: int, documents: frozenset[str] | None
) -> list[Scored]:
    """The hits of these documents, best first, up to the k-th and all that score as it does."""
    found: list[Scored] = []
    for score, address in hits:
        if len(found) >= k and score < found[k - 1].score:
            break
        fields = searcher.doc(address).to_dict()
        if documents is None or fields["document_id"][0] in documents:
            found.append(Scored(id=fields["id"][0], score=score))
    return found


def _find_few(searcher: "Searcher", query: "Query", most: int) -> list[str]:
    count = searcher.search(query, 1, count=True).count or 0  # type: ignore[attr-defined] # its stubs lack it
    if not 0 < count <= most:
        return []
    return [searcher.doc(address).to_dict()["id"][0] for _, address in searcher.search(query, count, count=False).hits]


def _read_ids(searcher: "Searcher", query: "Query") -> list[str]:
    hits = searcher.search(query, max(1, searcher.num_docs), count=False).hits
    return [searcher.doc(address).to_dict()["id"][0] for _, address in hits]
