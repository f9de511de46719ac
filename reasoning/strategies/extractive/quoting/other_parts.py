"""Units of other parts of documents than the parts that a question names: series A, where series D is asked for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.passage_context.named_parts import Part, compare_parts, find_parts, has_number, list_parts, names_same
from core.passage_context.tables import split_cells
from core.text.titles import find_name_words
from core.text.value_kinds import find_stems
from reasoning.strategies.extractive.quoting.units import READ, Unit
from reasoning.strategies.extractive.quoting.writing import read_cells

__all__ = ["OtherParts", "find_other_parts"]

_LONGEST_LABEL = 40
"""Characters of a cell that tells which part its row is of."""


@dataclass(frozen=True, kw_only=True)
class OtherParts:
    """Which units are of `other` parts, (units,); and the parts that the question names as it writes them, if there are
    such units, and nothing that was read is of these parts or mentions them (`missing`).
    """

    other: NDArray[np.bool_]
    missing: tuple[str, ...] = field(default=())


def find_other_parts(question: str, units: Sequence[Unit]) -> OtherParts:
    """Returns which units are of another part than those that the question names.

    A heading or a cell with the same word and another sign tells it, unless the unit itself mentions the named part.
    """
    parts = list_parts(question)
    if not parts or not units:
        return OtherParts(other=np.zeros(len(units), np.bool_))
    names = {unit.hit.document.id: find_name_words(unit.hit.document.key, unit.hit.document.title) for unit in units}
    known = find_stems("\n".join(names.values()))
    compared = {
        unit.hit.chunk.id: compare_parts(parts, unit.hit.chunk.heading, names[unit.hit.document.id], known)
        for unit in units
    }
    levels = np.array([_compare_unit(parts, unit, compared[unit.hit.chunk.id]) for unit in units])
    chunks = {unit.hit.chunk.id: unit.hit.chunk for unit in units}.values()
    is_read = (levels > 0).any() or any(_mentions(parts, chunk.text[:READ]) for chunk in chunks)
    is_read = is_read or any(_may_include(parts, f"{chunk.heading}\n{chunk.text[:READ]}") for chunk in chunks)
    is_missing = not is_read and bool((levels < 0).any())
    return OtherParts(
        other=levels < 0, missing=tuple(dict.fromkeys(part.written for part in parts)) if is_missing else ()
    )


def _compare_unit(parts: Sequence[Part], unit: Unit, by_heading: int) -> int:
    """Returns 1 for a unit of a named part, -1 for a unit of another part of the same kind, else 0.

    A heading or the short cells of a row tell another part. A sentence does not: it may well speak of several parts.
    """
    cells = read_cells(unit)[0] if unit.is_row else []
    by_cells = compare_parts(parts, "; ".join(f"{name}: {value}" for name, value in cells), "")
    labels = [f"{name}: {value}" for name, value in cells if len(value) <= _LONGEST_LABEL]
    if by_cells > 0 or (by_cells < 0 and compare_parts(parts, "; ".join(labels), "") < 0):
        return by_cells
    if _mentions(parts, unit.text):
        return max(by_heading, 0)
    first = split_cells(unit.text)[:1] if unit.is_row and not cells else []
    return by_heading or min(compare_parts(parts, "; ".join(first), ""), 0)


def _mentions(parts: Sequence[Part], text: str) -> bool:
    said = {(found.kind, found.sign) for found in _split(text)}
    return any(
        any(part.kind == kind and names_same(part.sign, sign) for kind, sign in said)
        or (part.is_release and has_number(part.sign, text))
        for part in parts
    )


def _may_include(parts: Sequence[Part], text: str) -> bool:
    """Returns whether a text names what may have a part: "year 5 and later" has year 7, and clause 5 has clause 5.1."""
    return any(
        part.kind == found.kind and (found.is_bound or names_same(found.sign, part.sign))
        for found in _split(text)
        for part in parts
    )


def _split(text: str) -> Iterator[Part]:
    """Yields the parts that a long text names."""
    for line in text.splitlines():
        yield from find_parts(line)
