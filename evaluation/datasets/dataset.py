"""A dataset: a folder with passages, questions with their supporting passages, and optionally given entities and
triples.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core.errors import InvalidInput
from evaluation.datasets.json_lines import Row, read_rows
from evaluation.datasets.supporting import Support, read_supporting

__all__ = ["CORPUS_FILE", "GIVEN_FILE", "QUESTIONS_FILE", "Dataset", "GoldQuestion", "read_dataset"]

CORPUS_FILE = "corpus.jsonl"
QUESTIONS_FILE = "questions.jsonl"
GIVEN_FILE = "openie.jsonl"


@dataclass(frozen=True, kw_only=True)
class GoldQuestion:
    """A question with its answer, aliases of the answer, and the passages that support it (none: unknown)."""

    id: str
    text: str
    answer: str
    aliases: tuple[str, ...]
    supporting: frozenset[Support]

    @property
    def answers(self) -> tuple[str, ...]:
        return (self.answer, *self.aliases)


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A dataset. `passages` is their number (0: the folder has questions only); `fingerprint` changes with what is
    indexed.
    """

    name: str
    folder: Path
    questions: tuple[GoldQuestion, ...]
    passages: int
    fingerprint: str


def read_dataset(folder: Path, questions: Path | None = None, *, needs_corpus: bool = True) -> Dataset:
    """Returns a dataset that has been read and checked; `questions` replaces the folder's own file.

    Raises `NotFound` for a missing file and `InvalidInput` for a wrong line, naming both. Without `needs_corpus` a
    folder of questions alone is accepted, and their supporting passages are not checked.
    """
    corpus = folder / CORPUS_FILE
    lengths = _read_lengths(corpus) if needs_corpus or corpus.exists() else {}
    given = folder / GIVEN_FILE
    if given.exists():
        _check_given(given)
    asked = _read_questions(questions or folder / QUESTIONS_FILE, lengths)
    return Dataset(
        name=folder.resolve().name,
        folder=folder,
        questions=asked,
        passages=len(lengths),
        fingerprint=_fingerprint(corpus, given),
    )


def _read_lengths(path: Path) -> dict[str, int]:
    """Returns each passage's key with the length of its text."""
    seen: dict[str, str] = {}
    lengths: dict[str, int] = {}
    for row in read_rows(path):
        key, text = row.text("id"), row.fields.get("text")
        if not isinstance(text, str):
            raise InvalidInput(f"{row.place}: passage {key!r} has no `text`")
        _check_unique(seen, key, row)
        lengths[key] = len(text)
    if not lengths:
        raise InvalidInput(f"{path} holds no passage")
    return lengths


def _check_given(path: Path) -> None:
    """Checks the form of each line. Single triples may be malformed; indexing counts them."""
    for row in read_rows(path):
        row.text("id")
        row.texts("entities")
        if not isinstance(row.fields.get("triples", []), list):
            raise InvalidInput(f"{row.place}: `triples` must be a list")


def _read_questions(path: Path, lengths: Mapping[str, int]) -> tuple[GoldQuestion, ...]:
    seen: dict[str, str] = {}
    questions = []
    for row in read_rows(path):
        question = GoldQuestion(
            id=row.text("id"),
            text=row.text("question"),
            answer=row.text("answer"),
            aliases=row.texts("aliases"),
            supporting=read_supporting(row),
        )
        _check_unique(seen, question.id, row)
        if "supporting" not in row.fields:
            raise InvalidInput(
                f"{row.place}: question {question.id!r} names no `supporting` passage; where none is known, write []"
            )
        if lengths:
            _check_supporting(question.supporting, lengths, row.place)
        questions.append(question)
    if not questions:
        raise InvalidInput(f"{path} holds no question")
    return tuple(questions)


def _check_supporting(supporting: frozenset[Support], lengths: Mapping[str, int], place: str) -> None:
    for support in sorted(supporting, key=lambda support: support.key):
        if support.key not in lengths:
            raise InvalidInput(f"{place}: no passage of {CORPUS_FILE} has the id {support.key!r}")
        end, length = support.span.end if support.span else 0, lengths[support.key]
        if end > length:
            raise InvalidInput(
                f"{place}: {support.key!r} in `supporting` has `end` {end}; its text has {length} characters"
            )


def _check_unique(seen: dict[str, str], key: str, row: Row) -> None:
    if key in seen:
        raise InvalidInput(f"{row.place}: the id {key!r} is that of {seen[key]} already")
    seen[key] = row.place


def _fingerprint(*paths: Path) -> str:
    digest = hashlib.sha256()
    for path in paths:
        content = path.read_bytes() if path.exists() else b""
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.hexdigest()
