"""The files and questions of the two folders, as their JSON lines state them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["NAMES", "FolderDocument", "FolderQuestion", "Need", "read_documents", "read_questions"]

NAMES = ("a", "b")
_HERE = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class FolderDocument:
    """A file of the folder: a `PackagedFile` with its language, its area (such as `law`) and its licence.

    `rendered`: the package has the source of a manual page; the folder has its text.
    """

    file: str
    language: str
    area: str
    client: str
    package: str
    version: str
    path: str
    licence: str
    sha256: str
    rendered: bool = False


@dataclass(frozen=True, kw_only=True)
class Need:
    """What a question needs: a chunk that has one of the lines. Each line is the key of a file and a verbatim text."""

    lines: tuple[tuple[str, str], ...]

    def is_met(self, key: str, text: str) -> bool:
        """Returns whether the text of the document `key` has one of the lines, without regard to white space."""
        flat = _flat(text)
        return any(of == key and _flat(line) in flat for of, line in self.lines)


@dataclass(frozen=True, kw_only=True)
class FolderQuestion:
    """A question with its short gold answer. All `needs` are met by a complete search; they are empty if the folder
    does not answer the question. `form` is `question`, `two` (two passages are needed), `typed` (as typed into a search
    box) or `unanswerable`; `kind` is what is asked for, such as `clause`, `row` or `date`.
    """

    id: str
    question: str
    language: str
    form: str
    kind: str
    answerable: bool
    answer: str
    needs: tuple[Need, ...]


def read_documents(name: str) -> list[FolderDocument]:
    """Returns the files of the folder `name`, in the order of their keys."""
    return [FolderDocument(**row) for row in _read(name, "documents.jsonl")]


def read_questions(name: str) -> list[FolderQuestion]:
    """Returns the questions of the folder `name`. An entry of `needed` is `{"key", "line"}`, or a list of those of
    which one suffices.
    """
    return [
        FolderQuestion(
            **{field: value for field, value in row.items() if field != "needed"},
            needs=tuple(_need(one) for one in row["needed"]),
        )
        for row in _read(name, "questions.jsonl")
    ]


def _need(needed: Mapping[str, str] | list[Mapping[str, str]]) -> Need:
    alternatives = needed if isinstance(needed, list) else [needed]
    return Need(lines=tuple((one["key"], one["line"]) for one in alternatives))


def _flat(text: str) -> str:
    return " ".join(text.split())


def _read(name: str, file: str) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in (_HERE / name / file).read_text(encoding="utf-8").splitlines()]
