"""What an ingest reads, and what it may then delete: all of the paths, or what has changed in them.

An ingest with `--embeddings` reads a file of several documents, and for each of them a row of floats.
"""

import codecs
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from core.corpora import CorpusSettings, Fine, check_embedded_by
from core.documents import EmbeddedBy, OnConflict, Submission
from core.errors import InvalidInput, NotFound
from indexer import (
    EVERYTHING,
    NO_RULES,
    PARQUET,
    AccessRules,
    Comparison,
    EmbeddingFile,
    KeySet,
    Rejection,
    Selection,
    count_documents,
    is_passage_table,
    known_suffixes,
    open_embeddings,
    read_embedded,
    read_paths,
)

GIVEN = "given"
"""The extractor that takes the graph of a file beside the documents."""
_START_BYTES = 4096


@dataclass(frozen=True, kw_only=True)
class Request:
    """The options of the command. `verbose`: a line is printed for each document when it is final.

    `embedding` is the model of a new corpus as `KIND:MODEL`, and `none` for a corpus without vectors. `embeddings` is a
    `.npy` or a Parquet file. `access` says who may see the documents. `schema` is the text of a new corpus' schema.
    """

    paths: tuple[Path, ...]
    corpus: str
    extractor: str | None
    chunker: str | None
    fine: Fine | None
    on_conflict: OnConflict
    prune: bool
    embedding: str | None = None
    embeddings: Path | None = None
    budget_tokens: int | None = None
    selection: Selection = EVERYTHING
    access: AccessRules = NO_RULES
    verbose: bool = False
    schema: str | None = None


@dataclass(frozen=True, kw_only=True)
class Server:
    """The address of a server, and one of its keys."""

    url: str
    api_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class Pruning:
    """What to delete: the documents with the keys `gone`; or, if that is None, all that `is_gone`.

    `refused` is why nothing may be deleted, or ''.
    """

    gone: Collection[str] | None = None
    is_gone: Callable[[str], bool] = lambda _: False
    refused: str = ""


class Reading(Protocol):
    """What one ingest reads. `corpus_id` is the corpus that it belongs to; None if that does not matter."""

    @property
    def corpus_id(self) -> str | None: ...

    @property
    def keys(self) -> KeySet:
        """The keys of the documents that `read` has yielded, and of attachments, which their submitter adds."""
        ...

    @property
    def share(self) -> float | None:
        """How much of the files `read` has read, from 0 to 1, about; None if that is unknown."""
        ...

    def fit(self, settings: CorpusSettings, name: str) -> None:
        """Called before `read` with the settings of the corpus `name`. Raises `InvalidInput` if the corpus cannot have
        what is read.
        """
        ...

    def read(self, *, with_given: bool) -> Iterator[Submission | Rejection]:
        """Yields the documents. `with_given`: with the graph of a file beside them."""
        ...

    def plan_pruning(self, rejected: Iterable[Rejection]) -> Pruning | None:
        """Returns what to delete after `read`; None if nothing is to be."""
        ...


class PathsReading:
    """Everything in the paths."""

    corpus_id: str | None = None

    def __init__(self, request: Request) -> None:
        self._request = request
        self.keys = KeySet()
        self._read_bytes = 0
        self._all_bytes = _sum_sizes(request.paths)

    @property
    def share(self) -> float | None:
        return min(1.0, self._read_bytes / self._all_bytes) if self._all_bytes else None

    def fit(self, settings: CorpusSettings, name: str) -> None:
        """Any corpus can have documents without embeddings."""

    def read(self, *, with_given: bool) -> Iterator[Submission | Rejection]:
        request = self._request
        found = read_paths(request.paths, with_given=with_given, selection=request.selection)
        return self._follow(found)

    def _follow(self, found: Iterable[Submission | Rejection]) -> Iterator[Submission | Rejection]:
        """Yields the stream with the access of the request, and remembers its keys and how much was read."""
        for one in _collect_keys(self._request.access.apply(found), self.keys):
            if isinstance(one, Submission):
                self._read_bytes += len(one.content)
            yield one

    def plan_pruning(self, rejected: Iterable[Rejection]) -> Pruning | None:
        if not self._request.prune:
            return None
        listed = list(rejected)
        hiding = next((one for one in listed if one.hides), None)
        if hiding is not None:  # what is behind a folder that cannot be read may still be there
            return Pruning(refused=f"{hiding.source}: {hiding.reason}")
        keep = KeySet(self.keys)
        for one in listed:
            if one.key is not None:
                keep.add(one.key)
        return Pruning(is_gone=_is_outside(keep, self._request.selection))


class ChangesReading:
    """What has changed in the paths since the last comparison.

    Documents that are gone from the paths are deleted; the first comparison deletes all others of the corpus.
    """

    share: float | None = None

    def __init__(self, comparison: Comparison, request: Request, corpus_id: str | None) -> None:
        self.corpus_id = corpus_id
        self._access = request.access
        self.keys = KeySet()
        self._comparison = comparison
        self._selection = request.selection

    def fit(self, settings: CorpusSettings, name: str) -> None:
        """Any corpus can have documents without embeddings."""

    def read(self, *, with_given: bool) -> Iterator[Submission | Rejection]:
        return _collect_keys(self._access.apply(self._comparison.read(with_given=with_given)), self.keys)

    def plan_pruning(self, rejected: Iterable[Rejection]) -> Pruning | None:  # noqa: ARG002 - the comparison knows them
        if self._comparison.is_first and self._comparison.is_complete:
            return Pruning(is_gone=_is_outside(self._comparison.keys, self._selection))
        return Pruning(gone=sorted(self._comparison.lost_keys))


def check_paths(request: Request) -> None:
    """Raises `NotFound` if a path does not exist, or if nothing in the paths can be read.

    Raises `InvalidInput` if the request prunes and a path is the file of one document. A request that prunes may have
    empty folders.
    """
    found = read_paths(request.paths, with_given=False, selection=request.selection)
    if request.prune:
        check_prunable(request.paths, "--prune")
    if next(found, None) is None:
        if request.prune and all(path.is_dir() for path in request.paths):
            return  # all files are gone, and so are their documents
        named = ", ".join(map(str, request.paths))
        patterns = _describe_patterns(request.selection)
        if patterns and next(read_paths(request.paths, with_given=False), None) is not None:
            raise NotFound(f"no file in {named} is selected by {patterns}; change the patterns, or leave them out")
        raise NotFound(
            f"there is no document in {named}; what can be read: .jsonl, {PARQUET}, {', '.join(known_suffixes())}"
        )


def check_prunable(paths: Sequence[Path], option: str) -> None:
    """Raises `InvalidInput` if a path is the file of one document: pruning would delete all others of the corpus."""
    single = next((path for path in paths if path.is_file() and not _is_list(path)), None)
    if single is not None:
        raise InvalidInput(
            f"{option} would delete every document but {single}; name the folder of the corpus, or leave {option} out"
        )


def _sum_sizes(paths: Sequence[Path]) -> int | None:
    """Returns the bytes of files of several documents; None if a path is no such file, or is compressed."""
    try:
        if all(path.is_file() and path.suffix.lower() not in (".gz", PARQUET) and _is_list(path) for path in paths):
            return sum(path.stat().st_size for path in paths)
    except OSError:  # who reads it says so
        pass
    return None


def _describe_patterns(selection: Selection) -> str:
    included = [f"--include {pattern!r}" for pattern in selection.include]
    return " ".join([*included, *(f"--exclude {pattern!r}" for pattern in selection.exclude)])


def _is_list(path: Path) -> bool:
    """Whether a file is made for several documents: JSON lines, a JSON list, a table of passages, or Parquet."""
    suffix = path.suffix.lower()
    try:
        if suffix != ".json" or not path.is_file():
            return suffix in (".jsonl", PARQUET) or is_passage_table(path)
        with path.open("rb") as content:
            start = content.read(_START_BYTES)
    except OSError:  # `read_paths` rejects it, and nothing is pruned
        return True
    return start.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"[")


def _is_cut_off(key: str, keep: Collection[str]) -> bool:
    """Whether a key is below one of `keep`: a link that leads nowhere may have led to a folder."""
    return any(str(parent) in keep for parent in PurePosixPath(key).parents)


def _is_outside(keep: Collection[str], selection: Selection) -> Callable[[str], bool]:
    """Returns whether a document with a key is gone: it would have been found, and was not."""
    return lambda key: key not in keep and selection.covers(key) and not _is_cut_off(key, keep)


def _collect_keys(found: Iterable[Submission | Rejection], keys: KeySet) -> Iterator[Submission | Rejection]:
    """Yields the stream unchanged and adds the keys of its submissions to `keys`."""
    for one in found:
        if isinstance(one, Submission):
            keys.add(one.key)
        yield one


class _EmbeddedReading(PathsReading):
    """The documents of one file with their embeddings. All rows are checked when it is made."""

    def __init__(self, request: Request, documents: Path, embeddings: EmbeddingFile) -> None:
        """Raises `InvalidInput` if the rows do not fit the documents, or a row cannot be used."""
        super().__init__(request)
        self._documents = documents
        self._file = embeddings
        self._model = ""
        embeddings.check(count_documents(documents), documents)

    def fit(self, settings: CorpusSettings, name: str) -> None:
        """Assigns the embeddings to the model of the corpus. Raises `InvalidInput` if they do not fit it."""
        given = EmbeddedBy(model=settings.embedding_model, dimension=self._file.dimension)
        check_embedded_by(given, settings, str(self._file.path), name)
        self._model = settings.embedding_model

    def read(self, *, with_given: bool) -> Iterator[Submission | Rejection]:
        found = read_embedded(self._documents, self._embed, with_given=with_given)
        return self._follow(found)

    def _embed(self, document: Mapping[str, Any], row: int) -> Mapping[str, Any]:
        return self._file.embed(document, row, self._model)


def make_reading(request: Request) -> PathsReading:
    """Returns what the request reads. Raises `InvalidInput` if its embeddings cannot be used."""
    if request.embeddings is None:
        return PathsReading(request)
    if len(request.paths) != 1 or not _has_rows(request.paths[0]):
        raise InvalidInput(
            f"--embeddings has one row for each document of one .jsonl or {PARQUET} file, or of one table of passages; "
            "name that file, and no other path"
        )
    return _EmbeddedReading(request, request.paths[0], open_embeddings(request.embeddings))


def _has_rows(path: Path) -> bool:
    return path.suffix.lower() in (".jsonl", PARQUET) or (path.is_file() and is_passage_table(path))
