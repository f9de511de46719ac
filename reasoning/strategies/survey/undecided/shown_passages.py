"""What a language model is shown of undecided documents, and which of them share a call.

A document that speaks of other documents by number, or in the words of the reply, gets a call of its own: in a call of
several it could be taken for what decides on its neighbours.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from core.documents import Chunk, Span
from core.passage_context import find_context, split_units
from core.ports.retrieval import Hit
from reasoning.strategies.survey.judging import Finding, list_nearest
from reasoning.strategies.survey.plan import Plan
from reasoning.strategies.survey.rows import Row

_MOST_WINDOWS = 3
_BESIDE = 250
"""Characters on each side of the nearest sentence that a model is shown, as far as whole sentences fit in."""
_LONGEST_UNIT = 1200
_MOST_SHARING, _MOST_CHARACTERS = 4, 8_000
"""Documents that share a call, and characters of their passages together, some 2,000 tokens."""
_SPEAKS_OF_OTHERS = re.compile(
    r"\b(?:documents?|documento|dokumente?|entry|passages?)\W{1,3}(?:n[or°]?\W{1,2})?"
    r"(?:\d|one\b|two\b|three\b|four\b)"
    r"|\b(?:next|previous|preceding|following|first|second|third|fourth|last) documents?\b"
    r"|\b(?:verdicts?|json)\b|[{}]",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """A part of a passage that is shown, and where it begins in the passage."""

    chunk: Chunk
    span: Span

    @property
    def text(self) -> str:
        return self.chunk.text[self.span.start : self.span.end]


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """A document as the model is shown it. `nearest` is its nearest sentence."""

    row: Row
    nearest: Finding
    windows: tuple[Window, ...]

    @property
    def characters(self) -> int:
        return sum(len(window.text) for window in self.windows)

    @property
    def speaks_of_others(self) -> bool:
        contexts = [find_context(self.row.document, window.chunk).attributes.values() for window in self.windows]
        texts = [self.row.document.title, *chain(*contexts), *(window.text for window in self.windows)]
        return any(_SPEAKS_OF_OTHERS.search(text) for text in texts)

    @property
    def hits(self) -> tuple[Hit, ...]:
        row = self.row
        return tuple(
            Hit(
                chunk=replace(window.chunk, text=window.text),
                document=row.document,
                score=1.0,
                corpus=row.corpus.name,
            )
            for window in self.windows
        )


def cut_document(plan: Plan, row: Row, chunks: Sequence[Chunk]) -> Shown | None:
    """Returns what of a document is shown; None if no sentence of it has a word of the condition."""
    nearest = list_nearest(plan, row.document.title, chunks, _MOST_WINDOWS)
    if not nearest:
        return None
    windows: list[Window] = []
    for finding in nearest:
        around = _widen(finding)
        joined = [
            window
            for window in windows
            if window.chunk.id == finding.chunk.id
            and window.span.start <= around.end
            and around.start <= window.span.end
        ]
        for window in joined:
            around = Span(start=min(around.start, window.span.start), end=max(around.end, window.span.end))
        windows = [window for window in windows if window not in joined]
        windows.append(Window(chunk=finding.chunk, span=around))
    windows.sort(key=lambda window: (window.chunk.position, window.span.start))
    return Shown(row=row, nearest=nearest[0], windows=tuple(windows))


def group_documents(shown: Sequence[Shown]) -> Iterator[tuple[Shown, ...]]:
    """Yields the documents of each call, in their order: of one corpus, and short together."""
    group: list[Shown] = []
    for document in shown:
        if document.speaks_of_others:
            yield (document,)
            continue
        characters = sum(member.characters for member in (*group, document))
        is_other = bool(group) and group[0].row.corpus.id != document.row.corpus.id
        if is_other or len(group) == _MOST_SHARING or (group and characters > _MOST_CHARACTERS):
            yield tuple(group)
            group = []
        group.append(document)
    if group:
        yield tuple(group)


def _widen(finding: Finding) -> Span:
    """Returns a part of a passage with the sentence in it, and the sentences beside it as far as they fit."""
    unit, text = finding.span, finding.chunk.text
    start, end = unit.start, min(unit.end, unit.start + _LONGEST_UNIT)
    units = split_units(text[: unit.end + 2 * _BESIDE])
    start = min((begin for begin, _ in units if unit.start - _BESIDE <= begin <= unit.start), default=start)
    end = max((stop for _, stop in units if unit.end <= stop <= unit.end + _BESIDE), default=end)
    return Span(start=start, end=min(end, unit.start + _LONGEST_UNIT + _BESIDE))
