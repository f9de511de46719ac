"""The files that a peer reads and writes. Open it to see what a peer is given, and what counts as its answer.

A folder of material holds:

- `chunks.jsonl`: `{"id", "title", "heading", "text"}`, a chunk a line
- `vectors.npy`: float32, row i is the unit vector of chunk i
- `questions.jsonl`: `{"id", "text"}`, a question a line
- `questions.npy`: float32, row i is the unit vector of question i

A peer writes one JSON object, see `Answers`. This module runs in the environments of the peers: it imports numpy alone.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "Answers",
    "Chunk",
    "Material",
    "Question",
    "UnusableFile",
    "Vectors",
    "read_answers",
    "read_material",
    "write_answers",
]

Vectors = npt.NDArray[np.float32]


class UnusableFile(ValueError):
    """A file of the exchange is missing, or does not have the form that this module describes."""


@dataclass(frozen=True, kw_only=True)
class Chunk:
    id: str
    title: str
    heading: str
    text: str

    @property
    def content(self) -> str:
        """Title, heading and text, joined by line breaks: what Hopweave's text index holds of a chunk."""
        return "\n".join(part for part in (self.title, self.heading, self.text) if part)


@dataclass(frozen=True, kw_only=True)
class Question:
    id: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Material:
    """The chunks and the questions, in order, with a row of `vectors` and of `question_vectors` for each."""

    chunks: tuple[Chunk, ...]
    vectors: Vectors
    questions: tuple[Question, ...]
    question_vectors: Vectors


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What a peer found. `version` names the peer's package or commit, and what else decides the ranking.

    `rankings` holds for each question the ids of at most `k` chunks, best first. `milliseconds` holds a number for each
    question, in their order: from the text of the question to the ranking, with the embedding of the question.
    `index_seconds` leaves out the embedding of the chunks, which the peer is given.
    """

    peer: str
    version: str
    index_seconds: float
    rankings: dict[str, list[str]]
    milliseconds: list[float]


def read_material(folder: Path) -> Material:
    """Raises `UnusableFile` unless all four files are there, ids are unique, and rows match lines."""
    chunks = tuple(
        Chunk(id=row["id"], title=row["title"], heading=row["heading"], text=row["text"])
        for row in _read_rows(folder / "chunks.jsonl", ("id", "title", "heading", "text"))
    )
    questions = tuple(
        Question(id=row["id"], text=row["text"]) for row in _read_rows(folder / "questions.jsonl", ("id", "text"))
    )
    return Material(
        chunks=chunks,
        vectors=_read_vectors(folder / "vectors.npy", len(chunks)),
        questions=questions,
        question_vectors=_read_vectors(folder / "questions.npy", len(questions)),
    )


def write_answers(file: Path, answers: Answers) -> None:
    file.write_text(json.dumps(asdict(answers), ensure_ascii=False) + "\n", encoding="utf-8")


def read_answers(file: Path, material: Material, k: int) -> Answers:
    """Raises `UnusableFile` unless each question has a ranking of at most `k` known chunks, none twice, and a time."""
    fields = _read_json(file)
    try:
        answers = Answers(**fields)
    except TypeError as error:
        raise UnusableFile(f"{file}: {error}") from error
    asked, known = {question.id for question in material.questions}, {chunk.id for chunk in material.chunks}
    if set(answers.rankings) != asked:
        raise UnusableFile(f"{file}: ranks for {len(answers.rankings)} questions, not for the {len(asked)} asked")
    for question, ranking in answers.rankings.items():
        if len(ranking) > k or len(set(ranking)) < len(ranking) or not known.issuperset(ranking):
            raise UnusableFile(f"{file}: the ranking of {question!r} is not of at most {k} different chunks given")
    if len(answers.milliseconds) != len(asked):
        raise UnusableFile(f"{file}: {len(answers.milliseconds)} times for {len(asked)} questions")
    return answers


def _read_rows(file: Path, fields: tuple[str, ...]) -> list[dict[str, str]]:
    rows = [_parse(file, line) for line in _read_text(file).split("\n") if line]
    for row in rows:
        if not all(isinstance(row.get(field), str) for field in fields):
            raise UnusableFile(f"{file}: a line lacks one of {', '.join(fields)}, or holds no string there")
    _check_unique(file, (row["id"] for row in rows))
    return rows


def _check_unique(file: Path, ids: Iterable[str]) -> None:
    seen: set[str] = set()
    for id in ids:
        if id in seen:
            raise UnusableFile(f"{file}: the id {id!r} is there twice")
        seen.add(id)


def _read_vectors(file: Path, rows: int) -> Vectors:
    try:
        vectors: Vectors = np.load(file, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise UnusableFile(f"{file} holds no vectors: {error}") from error
    if vectors.ndim != 2 or len(vectors) != rows or vectors.dtype != np.float32:
        raise UnusableFile(f"{file}: {vectors.dtype} of shape {vectors.shape}, not float32 with {rows} rows")
    return vectors


def _read_json(file: Path) -> dict[str, Any]:
    return _parse(file, _read_text(file))


def _read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise UnusableFile(f"{file} cannot be read: {error.strerror}") from error


def _parse(file: Path, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise UnusableFile(f"{file} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise UnusableFile(f"{file}: expected an object, got {type(value).__name__}")
    return value
