"""A dataset: a folder with passages, questions with what supports them, and perhaps entities and triples."""

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
    """A question with its answer (any of `aliases` is as good) and the passages that support it (none: not known)."""

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
    """`passages` counts them (0: the folder has questions only); `fingerprint` changes with what is to be indexed."""

    name: str
    folder: Path
    questions: tuple[GoldQuestion, ...]
    passages: int
    fingerprint: str


def read_dataset(folder: Path, questions: Path | None = None, *, needs_corpus: bool = True) -> Dataset:
    """Read and check a folder; `questions` stands in for its own.

    Raises `NotFound` for a file that is missing and `InvalidInput` for a line that is wrong, naming both. Without
    `needs_corpus` a folder of questions alone will do, and what supports them is not looked up.
    """
    corpus = folder / CORPUS_FILE
    lengths = _lengths(corpus) if needs_corpus or corpus.exists() else {}
    given = folder / GIVEN_FILE
    if given.exists():
        _check_given(given)
    asked = _questions(questions or folder / QUESTIONS_FILE, lengths)
    return Dataset(
        name=folder.resolve().name,
        folder=folder,
        questions=asked,
        passages=len(lengths),
        fingerprint=_fingerprint(corpus, given),
    )


def _lengths(path: Path) -> dict[str, int]:
    """Each passage's key with the length of its text."""
    seen: dict[str, str] = {}
    lengths: dict[str, int] = {}
    for row in read_rows(path):
        key, text = row.text("id"), row.fields.get("text")
        if not isinstance(text, str):
            raise InvalidInput(f"{row.place}: passage {key!r} has no `text`")
        _once(seen, key, row)
        lengths[key] = len(text)
    if not lengths:
        raise InvalidInput(f"{path} holds no passage")
    return lengths


def _check_given(path: Path) -> None:
    """Single triples may be malformed, they are counted when they are indexed; the line's form may not."""
    for row in read_rows(path):
        row.text("id")
        row.texts("entities")
        if not isinstance(row.fields.get("triples", []), list):
            raise InvalidInput(f"{row.place}: `triples` must be a list")


def _questions(path: Path, lengths: Mapping[str, int]) -> tuple[GoldQuestion, ...]:
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
        _once(seen, question.id, row)
        if "supporting" not in row.fields:
            raise InvalidInput(
                f"{row.place}: question {question.id!r} names no `supporting` passage; where none is known, write []"
            )
        if lengths:
            _look_up(question.supporting, lengths, row.place)
        questions.append(question)
    if not questions:
        raise InvalidInput(f"{path} holds no question")
    return tuple(questions)


def _look_up(supporting: frozenset[Support], lengths: Mapping[str, int], place: str) -> None:
    for support in sorted(supporting, key=lambda support: support.key):
        if support.key not in lengths:
            raise InvalidInput(f"{place}: no passage of {CORPUS_FILE} has the id {support.key!r}")
        end, length = support.span.end if support.span else 0, lengths[support.key]
        if end > length:
            raise InvalidInput(
                f"{place}: {support.key!r} in `supporting` has `end` {end}; its text has {length} characters"
            )


def _once(seen: dict[str, str], key: str, row: Row) -> None:
    if key in seen:
        raise InvalidInput(f"{row.place}: the id {key!r} is that of {seen[key]} already")
    seen[key] = row.place


def _fingerprint(*paths: Path) -> str:
    digest = hashlib.sha256()
    for path in paths:
        content = path.read_bytes() if path.exists() else b""
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.hexdigest()
