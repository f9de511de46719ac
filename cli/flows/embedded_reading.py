"""What an ingest with `--embeddings` reads: a file of several documents, and for each of them a row of floats."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cli.flows.reading import PathsReading, Request
from core.corpora import CorpusSettings, check_embedded_by
from core.documents import EmbeddedBy, Submission
from core.errors import InvalidInput
from indexer import (
    PARQUET,
    EmbeddingFile,
    Rejection,
    count_documents,
    is_passage_table,
    open_embeddings,
    read_embedded,
)

__all__ = ["EmbeddedReading", "make_reading"]


class EmbeddedReading(PathsReading):
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
    return EmbeddedReading(request, request.paths[0], open_embeddings(request.embeddings))


def _has_rows(path: Path) -> bool:
    return path.suffix.lower() in (".jsonl", PARQUET) or (path.is_file() and is_passage_table(path))
