"""The documents and the questions of the six families, and the folder that is ingested."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.long_documents.fetching import fetch
from tests.benchmarks.versions.reports import write_reports

__all__ = ["LOOKED_AT", "Document", "Question", "lay", "read_documents", "read_questions"]

LOOKED_AT = ("fastify", "commander", "licences")
"""The families that may be used to choose something; the others are held out."""
_HERE = Path(__file__).parent
_WITHOUT_FILE = "licences"


@dataclass(frozen=True, kw_only=True)
class Document:
    """A `PackagedFile` of a family, with its licence."""

    family: str
    file: str
    client: str
    package: str
    version: str
    path: str
    licence: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question, the keys (with `*`) of the version in which it has its answer, and the line that answers it.

    `form` is `named` if the question names a version, `none` if it names none and the newest is wanted, `old` if only
    an old version has the answer, and `two` if it compares the versions of two keys.
    """

    id: str
    family: str
    form: str
    text: str
    right: tuple[str, ...]
    line: str


def read_documents() -> list[Document]:
    return [Document(**row) for row in _read("documents.jsonl")]


def read_questions() -> list[Question]:
    return [Question(**{**row, "right": tuple(row["right"])}) for row in _read("questions.jsonl")]


def lay(cache: Path) -> Path:
    """Returns the folder of the documents, after what the cache lacks was fetched.

    The licences are JSON documents of one file, which have a title, and a key that tells nothing.
    Raises `DocumentsMissing`.
    """
    documents = read_documents()
    packaged, folder = cache / "packaged", cache / "folder"
    fetch(documents, packaged)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rows: list[Mapping[str, str]] = []
    for document in documents:
        source, target = packaged / document.file, folder / document.file
        if document.family == _WITHOUT_FILE:
            licence = json.loads(source.read_bytes())
            rows.append({"id": document.file, "title": licence["name"], "text": licence["licenseText"]})
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / f"{_WITHOUT_FILE}.jsonl").write_text(lines, encoding="utf-8")
    write_reports(folder / "berichte")
    return folder


def _read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (_HERE / name).read_text(encoding="utf-8").splitlines()]
