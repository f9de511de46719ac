"""The text index, with one folder for each corpus.

First comes the folder of an index, which is created atomically; then the index of one corpus, with blocking calls,
whose errors become `Unavailable`; then the port.
"""

import asyncio
import errno
import os
import secrets
import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from core.errors import Unavailable
from core.execution.threads import compute
from core.ports.views import Scored, TextEntry
from core.text.query import TextQuery
from stores.corpus_folders import corpus_folder, delete_folder
from stores.lucene_query import encodable, render
from stores.tantivy.analysis import TOKENIZER, analyzer, make_schema

if TYPE_CHECKING:
    from tantivy import DocAddress, IndexWriter, Query, Searcher


_MARKER = "hopweave-1"
"""A file in every complete index, named after its format. A folder without it is damaged, foreign or outdated."""


def _create_index(folder: Path) -> None:
    """Creates an empty index at `folder`. If another process did so before, its index stays."""
    from tantivy import Index

    draft = folder.with_name(f".draft-{secrets.token_hex(8)}")
    draft.mkdir(mode=0o700, parents=True)
    Index(make_schema(), path=str(draft))
    (draft / _MARKER).touch()
    try:
        draft.rename(folder)
    except OSError as error:
        shutil.rmtree(draft)
        if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
            raise


def _read_identity(folder: Path) -> tuple[int, int] | None:
    """Returns an identity, which a later index in the same folder does not have, or None if there is no index.

    Raises `FileNotFoundError` if the folder exists without its marker.
    """
    marker = folder / _MARKER
    try:
        return _read_file_identity(marker)
    except FileNotFoundError:
        return _read_file_identity(marker) if folder.exists() else None  # again, because it may just have been created


def _read_file_identity(path: Path) -> tuple[int, int]:
    """Returns an identity that changes when the file at `path` is replaced."""
    stat = os.stat(path)  # noqa: PTH116 - twice per search; Path.stat takes three times as long
    return stat.st_ino, stat.st_mtime_ns


_WRITER_BYTES = 50_000_000
_FILTER_BY_QUERY = 20_000
"""As a query, a filter costs some 5 to 30 µs for each document. Beyond this many, hits are read in order and
filtered.
"""
_OVERFETCH = 1000
_MOST_TIES = 5000
"""The most ties that are read: passages of one form, such as lines of a log, all score the same."""


class CorpusIndex:
    """The open index in one folder. Each call has its own writer and so frees the lock of tantivy; this costs 4 ms."""

    def __init__(self, folder: Path) -> None:
        from tantivy import Index

        self._folder = folder
        self._writing = Lock()
        self._current: tuple[tuple[int, int], Searcher] | None = None
        with _translate_errors(folder):
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
        with _translate_errors(self._folder):
            searcher = self._refresh_searcher()
            parsed = self._index.parse_query(query, ["text"])
            if documents is None:
                return _search_best(searcher, parsed, k, None)
            if len(documents) <= _FILTER_BY_QUERY:
                return _search_best(searcher, _restrict(parsed, self._filter_by(documents)), k, None)
            return _search_best(searcher, parsed, k, frozenset(documents))

    def find_few(self, asked: Sequence[tuple[str | None, int]], documents: Collection[str] | None) -> list[list[str]]:
        """Returns for each query the ids of its entries, none if there are more than the number given with it."""
        with _translate_errors(self._folder):
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
        """Returns the `ids` that have an entry."""
        from tantivy import Query

        with _translate_errors(self._folder):
            return set(
                _read_ids(self._refresh_searcher(), Query.term_set_query(self._index.schema, "id", list(set(ids))))
            )

    def ids(self) -> list[str]:
        from tantivy import Query

        with _translate_errors(self._folder):
            return sorted(_read_ids(self._refresh_searcher(), Query.all_query()))

    def count(self) -> int:
        with _translate_errors(self._folder):
            return self._refresh_searcher().num_docs

    def _refresh_searcher(self) -> "Searcher":
        """Returns a searcher of the last commit of any process. The searcher is kept for its warm caches."""
        now = _read_file_identity(self._folder / "meta.json")  # every commit replaces this file
        if self._current is None or self._current[0] != now:
            self._index.reload()
            self._current = now, self._index.searcher()
        return self._current[1]

    @contextmanager
    def _writer(self) -> "Iterator[IndexWriter]":
        """Yields a writer, and commits at the end. If the block raises, nothing is written."""
        with self._writing, _translate_errors(self._folder):
            writer = self._index.writer(_WRITER_BYTES, 1)
            # A writer that was killed within its commit leaves a file that a commit of the same number cannot write.
            writer.garbage_collect_files()
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
def _translate_errors(folder: Path) -> Iterator[None]:
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
    or until there are `_MOST_TIES` more hits than `k`.
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


class TantivyTextIndex:
    """Fills `core.ports.views.TextIndex` under `root`. Any number of processes read; one at a time writes a corpus."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = Lock()
        self._open: dict[str, tuple[tuple[int, int], CorpusIndex]] = {}

    async def write(self, corpus_id: str, entries: Sequence[TextEntry]) -> None:
        if entries:
            await asyncio.to_thread(lambda: self._open_or_create(corpus_id).write(entries))

    async def missing(self, corpus_id: str, ids: Sequence[str]) -> set[str]:
        def work() -> set[str]:
            index = self._open_existing(corpus_id)
            return set(ids) - index.find_existing(ids) if index and ids else set(ids)

        return await asyncio.to_thread(work)

    async def search(
        self, corpus_id: str, query: TextQuery, k: int, documents: Collection[str] | None = None
    ) -> list[Scored]:
        rendered = render(query)
        if rendered is None or k < 1 or (documents is not None and not documents):
            return []

        def work() -> list[Scored]:
            index = self._open_existing(corpus_id)
            return index.search(rendered, k, documents) if index else []

        return await compute(work)

    async def find_few(
        self, corpus_id: str, asked: Sequence[tuple[TextQuery, int]], documents: Collection[str] | None = None
    ) -> list[list[str]]:
        rendered = [(render(query), most) for query, most in asked]
        if documents is not None and not documents:
            return [[] for _ in asked]

        def work() -> list[list[str]]:
            index = self._open_existing(corpus_id)
            return index.find_few(rendered, documents) if index else [[] for _ in asked]

        return await compute(work)

    async def delete(self, corpus_id: str, ids: Sequence[str]) -> None:
        def work() -> None:
            index = self._open_existing(corpus_id)
            if index and ids:
                index.delete(ids)

        await asyncio.to_thread(work)

    async def delete_corpus(self, corpus_id: str) -> None:
        """Deletes the index of a corpus, even if it is damaged and cannot be read."""

        def work() -> None:
            place = self._folder(corpus_id)
            with self._lock:
                self._open.pop(corpus_id, None)
            with _translate_errors(place):
                delete_folder(place)

        await asyncio.to_thread(work)

    async def count(self, corpus_id: str) -> int:
        def work() -> int:
            index = self._open_existing(corpus_id)
            return index.count() if index else 0

        return await asyncio.to_thread(work)

    async def ids(self, corpus_id: str) -> list[str]:
        """Returns all ids, sorted, to compare the index with the record."""

        def work() -> list[str]:
            index = self._open_existing(corpus_id)
            return index.ids() if index else []

        return await asyncio.to_thread(work)

    async def check(self) -> str:
        """Returns the version of tantivy after a look-up in the folder."""
        from importlib import metadata

        await self.count("0" * 32)  # an unknown corpus counts as empty
        return f"tantivy {metadata.version('tantivy')}"

    async def close(self) -> None:
        """Closes every open index. A later call opens them again."""
        with self._lock:
            self._open.clear()

    def _folder(self, corpus_id: str) -> Path:
        return corpus_folder(self._root, corpus_id)

    def _open_or_create(self, corpus_id: str) -> CorpusIndex:
        place = self._folder(corpus_id)
        while (index := self._open_existing(corpus_id)) is None:  # again, because another process may have deleted it
            with _translate_errors(place):
                _create_index(place)
        return index

    def _open_existing(self, corpus_id: str) -> CorpusIndex | None:
        """Returns the current index. Another process may have deleted and created it since it was opened."""
        place = self._folder(corpus_id)
        with self._lock, _translate_errors(place):
            now = _read_identity(place)
            if now is None:
                self._open.pop(corpus_id, None)
                return None
            known = self._open.get(corpus_id)
            if known is None or known[0] != now:
                known = self._open[corpus_id] = (now, CorpusIndex(place))
            return known[1]
