"""Corpora: list, create, get, rename, reindex, import, export, delete."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hopweave._errors import ConflictError
from hopweave._steps import Request, Steps, call, call_pages, decode, path, request
from hopweave._values import ExportFormat
from hopweave.wire.corpora import Certificate, CertificateList, Corpus, CorpusDetail, CorpusList, Fine, Imported
from hopweave.wire.jobs import Job, Started

__all__ = [
    "create_corpus",
    "delete_corpus",
    "export_corpus",
    "get_corpus",
    "import_corpus",
    "list_certificates",
    "list_corpora",
    "reindex_corpus",
    "rename_corpus",
]

_LONG_SECONDS = 86_400.0
"""How long an import or an export may be silent: the server checks all of a file before it answers."""


def list_corpora() -> Steps[list[Corpus]]:
    """Returns all corpora, by name."""
    return call_pages(CorpusList, path("corpora"))


def list_certificates(corpus: str) -> Steps[list[Certificate]]:
    """Returns all certificates of what was removed from a corpus, also of deleted corpora that had this name.

    The lines of all, one after the other, are a file for `hopweave verify`.
    """
    return call_pages(CertificateList, path("corpora", corpus, "certificates"))


def create_corpus(
    name: str,
    *,
    chunker: str | None = None,
    extractor: str | None = None,
    fine: Fine | None = None,
    embedding: str | None = None,
    schema: str | None = None,
    exist_ok: bool = False,
) -> Steps[Corpus]:
    """Creates a corpus and returns it. The server's settings hold for what is not given.

    `embedding` is `KIND:MODEL`, or the name of the server's configured or of the built-in model. `schema` is the text
    of a `schema.toml`, of at most 100,000 bytes. Raises `ConflictError` if there is one of this name, or for another
    name without a kind. With `exist_ok`, returns that one instead, with the settings that it has.
    """
    body = {"name": name, **_given(chunker, extractor, fine)}
    if embedding is not None:
        body["embedding"] = embedding
    if schema is not None:
        body["schema"] = schema
    try:
        return (yield from call(Corpus, "POST", path("corpora"), body))
    except ConflictError:
        if not exist_ok:
            raise
    return (yield from call(Corpus, "GET", path("corpora", name)))


def get_corpus(corpus: str) -> Steps[CorpusDetail]:
    """Returns a corpus with its settings and counts."""
    return call(CorpusDetail, "GET", path("corpora", corpus))


def rename_corpus(corpus: str, name: str) -> Steps[Corpus]:
    """Renames a corpus."""
    return call(Corpus, "PATCH", path("corpora", corpus), {"name": name})


def reindex_corpus(
    corpus: str,
    *,
    chunker: str | None = None,
    extractor: str | None = None,
    fine: Fine | None = None,
    embedding: str | None = None,
) -> Steps[Job]:
    """Starts building a corpus anew, and returns the job. What is not given stays as it is, except that without
    `embedding` (`KIND:MODEL`) the server's configured model embeds it.

    The corpus answers as before until the job is done. Raises `ConflictError` while another reindex runs.
    """
    body = {**_given(chunker, extractor, fine), **({} if embedding is None else {"embedding": embedding})}
    return (yield from call(Started, "POST", path("corpora", corpus, "reindex"), body)).job


def import_corpus(
    corpus: str,
    file: str | os.PathLike[str],
    *,
    chunker: str | None = None,
    extractor: str | None = None,
    fine: Fine | None = None,
) -> Steps[Imported]:
    """Writes the documents of an exported corpus into a corpus, without asking a model. A missing corpus is created
    with the settings in the file.

    `file` is what `export_corpus` or `hopweave export --format jsonl` wrote, plain or compressed with gzip. Documents
    replace those with the same keys. A file that is damaged or cut is refused, and nothing is written. Raises
    `ConflictError` if the corpus, or a setting that is given, differs from the file.
    """
    sent = Request(
        method="POST",
        path=path("corpora", corpus, "import"),
        params=_given(chunker, extractor, fine),
        body=None,
        timeout=_LONG_SECONDS,
        headers={"Content-Type": "application/x-ndjson"},
        upload=Path(file),
    )
    return decode(Imported, (yield sent))


def export_corpus(
    corpus: str, file: str | os.PathLike[str], *, format: ExportFormat = "jsonl", canonical: bool = False
) -> Steps[int]:
    """Writes a corpus into a file, which is replaced once it is complete. Returns the number of bytes.

    `jsonl` holds everything and can be imported; with `canonical` it is sorted, and can only be compared. `graphml` is
    for drawing, and `csv` one table.
    """
    sent = request("GET", path("corpora", corpus, "export"), format=format, canonical=str(canonical).lower())
    size: int = yield replace(sent, timeout=_LONG_SECONDS, download=Path(file))
    return size


def delete_corpus(corpus: str) -> Steps[Job]:
    """Starts deleting a corpus with everything in it, and returns the job. The corpus is invisible at once."""
    return (yield from call(Started, "DELETE", path("corpora", corpus))).job


def _given(chunker: str | None, extractor: str | None, fine: Fine | None) -> Mapping[str, str]:
    settings = {"chunker": chunker, "extractor": extractor, "fine": fine}
    return {name: value for name, value in settings.items() if value is not None}
