"""Real sentences in five languages and four genres, as they were cut by reading, and how far a splitter agrees.

The files and the guideline are in `tests/unit/core/sentences`. Open this for a new splitter or a new measure.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

__all__ = ["GENRES", "LANGUAGES", "Counts", "Excerpt", "count_boundaries", "find_boundaries", "read_excerpts"]

LANGUAGES = ("de", "en", "es", "fr", "it")
GENRES = ("law", "mail", "manuals", "science")

_FOLDER = Path(__file__).parent / "unit" / "core" / "sentences"
_LINE_END = "⏎"
_HEAD = re.compile(r"^# (?=[0-9a-f]{6}; )", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """A part of a document. `sentences` are the pieces of its text, each with the white space after it."""

    id: str
    language: str
    genre: str
    held_out: bool
    source: str
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        return "".join(self.sentences)


class Counts(NamedTuple):
    """Boundaries that a splitter found and that are right, that it found, and that there are."""

    right: int = 0
    found: int = 0
    there: int = 0

    def __add__(self, other: object) -> "Counts":
        if not isinstance(other, Counts):
            return NotImplemented
        return Counts(*(one + another for one, another in zip(self, other, strict=True)))

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.there if self.there else 1.0

    @property
    def f1(self) -> float:
        return 2 * self.right / (self.found + self.there) if self.found + self.there else 1.0


def read_excerpts() -> list[Excerpt]:
    """Returns all excerpts, by language and genre."""
    return [excerpt for language in LANGUAGES for genre in GENRES for excerpt in _read(language, genre)]


def find_boundaries(text: str, ranges: Iterable[tuple[int, int]]) -> set[int]:
    """Returns where sentences end, before the white space after them. The end of the text is no boundary."""
    ends = {start + len(text[start:end].rstrip()) for start, end in ranges if text[start:end].strip()}
    return ends - {len(text.rstrip())}


def count_boundaries(excerpt: Excerpt, ranges: Iterable[tuple[int, int]], *, inside: bool = False) -> Counts:
    """Compares the ranges of a splitter with the sentences of an excerpt.

    `inside` leaves out the boundaries before an empty line, which every splitter finds that knows of empty lines.
    """
    text = excerpt.text
    ends = list(accumulate(map(len, excerpt.sentences)))
    there = find_boundaries(text, zip([0, *ends], ends, strict=False))
    found = find_boundaries(text, ranges)
    if inside:
        empty = {end for end in there | found if _is_before_empty_line(text, end)}
        there, found = there - empty, found - empty
    return Counts(len(found & there), len(found), len(there))


def _is_before_empty_line(text: str, end: int) -> bool:
    white = text[end : len(text) - len(text[end:].lstrip())]
    return white.count("\n") > 1


def _read(language: str, genre: str) -> list[Excerpt]:
    excerpts = []
    text = (_FOLDER / f"{language}-{genre}.txt").read_text(encoding="utf-8")
    for part in _HEAD.split(text)[1:]:
        head, _, body = part.partition("\n")
        name, half, source, _ = head.split("; ", 3)
        excerpts.append(
            Excerpt(
                id=name,
                language=language,
                genre=genre,
                held_out=half == "held-out",
                source=source,
                sentences=tuple(_read_sentences(body.strip("\n").split("\n"))),
            )
        )
    return excerpts


def _read_sentences(lines: Sequence[str]) -> list[str]:
    """Returns the sentences of an excerpt; an empty line is the end of a paragraph."""
    sentences: list[str] = []
    for line, following in zip(lines, [*lines[1:], None], strict=True):
        if not line:
            continue
        text = line.replace(_LINE_END, "\n")
        if following == "":
            text = text.rstrip("\n") + "\n\n"
        elif following is not None and not text.endswith("\n"):
            text += " "
        sentences.append(text)
    return sentences
