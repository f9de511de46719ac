"""One corpus' index, blocking; what tantivy raises comes out as `Unavailable`."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from core.errors import Unavailable
from core.ports.views import Scored, TextEntry
from stores.lucene_query import encodable
from stores.tantivy.analysis import TOKENIZER, analyzer
from stores.tantivy.folder import file_identity

if TYPE_CHECKING:
    from tantivy import DocAddress, IndexWriter, Query, Searcher

__all__ = ["CorpusIndex", "translated"]

_WRITER_BYTES = 50_000_000
_FILTER_BY_QUERY = 1000
"""A filter costs some 4 µs a document as a query; beyond this many, hits are read in order and sifted instead."""

_OVERFETCH = 1000


class CorpusIndex:
    """The open index in one folder. A writer, and with it tantivy's lock, lives for one call: 4 ms more than kept."""

    def __init__(self, folder: Path) -> None:
        from tantivy import Index

        self._folder = folder
        self._writing = Lock()
        self._seen: tuple[tuple[int, int], Searcher] | None = None
        with translated(folder):
            self._index = Index.open(str(folder))
            self._index.config_reader("manual", 0)  # the other policy keeps a thread per index
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
        """`query` is what `stores.lucene_query.render` made."""
        with translated(self._folder):
            searcher = self._searcher()
            parsed = self._index.parse_query(query, ["text"])
            if documents is None:
                return _best(searcher, parsed, k, None)
            if len(documents) <= _FILTER_BY_QUERY:
                return _best(searcher, self._restricted(parsed, documents), k, None)
            return _best(searcher, parsed, k, frozenset(documents))

    def present(self, ids: Sequence[str]) -> set[str]:
        """Those of `ids` that have an entry."""
        from tantivy import Query

        with translated(self._folder):
            return set(_ids(self._searcher(), Query.term_set_query(self._index.schema, "id", list(set(ids)))))

    def ids(self) -> list[str]:
        from tantivy import Query

        with translated(self._folder):
            return sorted(_ids(self._searcher(), Query.all_query()))

    def count(self) -> int:
        with translated(self._folder):
            return self._searcher().num_docs

    def _searcher(self) -> "Searcher":
        """Of the last commit of any process; kept until the next, since a new one begins with cold caches."""
        now = file_identity(self._folder / "meta.json")  # every commit puts a new file there
        if self._seen is None or self._seen[0] != now:
            self._index.reload()
            self._seen = now, self._index.searcher()
        return self._seen[1]

    @contextmanager
    def _writer(self) -> "Iterator[IndexWriter]":
        """One commit at the end; nothing of it where the block raises."""
        with self._writing, translated(self._folder):
            writer = self._index.writer(_WRITER_BYTES, 1)
            try:
                yield writer
                writer.commit()
            finally:
                writer.wait_merging_threads()  # gives the lock back, whatever happened

    def _restricted(self, query: "Query", documents: Collection[str]) -> "Query":
        from tantivy import Occur, Query

        allowed = Query.term_set_query(self._index.schema, "document_id", list(documents))
        return Query.boolean_query([(Occur.Must, query), (Occur.Must, Query.const_score_query(allowed, 0.0))])


@contextmanager
def translated(folder: Path) -> Iterator[None]:
    """What tantivy and the file system raise, as our error with its remedy."""
    try:
        yield
    except (ValueError, OSError) as error:  # tantivy raises ValueError for whatever it meets
        raise _unavailable(folder, error) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # Rust's panic over a file that was cut; it cannot be imported
            raise
        raise _unavailable(folder, error) from error


def _unavailable(folder: Path, error: BaseException) -> Unavailable:
    if "LockBusy" in str(error):
        problem, remedy = "is being written by another process", "end it, or wait until it has finished"
    else:
        problem, remedy = f"cannot be used ({error})", "run `hopweave doctor --repair` to build it again"
    return Unavailable(f"the text index {folder} {problem}: {remedy}")


def _best(searcher: "Searcher", query: "Query", k: int, documents: frozenset[str] | None) -> list[Scored]:
    """The best `k`, ties by id, of all or of these documents.

    tantivy orders ties by its own numbers, so hits are read until the last one scores less than the k-th that counts.
    """
    limit = k + 16 if documents is None else 4 * k + _OVERFETCH
    while True:
        hits = searcher.search(query, limit, count=False).hits
        found = _read(searcher, hits, k, documents)
        if len(hits) < limit or (len(found) >= k and hits[-1][0] < found[k - 1].score):
            found.sort(key=lambda hit: (-hit.score, hit.id))
            return found[:k]
        limit *= 4


def _read(
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


def _ids(searcher: "Searcher", query: "Query") -> list[str]:
    hits = searcher.search(query, max(1, searcher.num_docs), count=False).hits
    return [searcher.doc(address).to_dict()["id"][0] for _, address in hits]
