"""What one document may do to another one: whether its claim to supersede it is followed, and which of two documents in
force counts where they contradict one another.

Both need the same right: a document prevails only over a document that whoever wrote it could have changed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from math import isfinite, nan

from core.documents import DocumentRef, matches
from core.filters import DocumentFilter
from core.text.titles import family_of
from core.validity.statements import (
    SUPERSEDES,
    WRITTEN_WITHIN,
    Statement,
    StatementSource,
    list_marks,
    read_authority,
    read_mark,
)

_YEAR = re.compile(r"(?:19|20)\d\d")
WITHOUT_DAY = "it has no day, so it may be older than the document that it names"
OF_EARLIER_YEAR = "it is of an earlier year than the document that it names"


def find_objection(
    newer: DocumentRef, older: DocumentRef, statement: Statement, writers: Sequence[DocumentFilter]
) -> str:
    """Returns why a document may not supersede another one; '' if it may."""
    if older.access is not None and not (newer.access is not None and set(newer.access) <= set(older.access)):
        return "others than the readers of the document that it names may have written it"
    marks = list_marks(newer.metadata, statement.source)
    if marks - {read_mark(older.metadata, WRITTEN_WITHIN)}:
        return "a key wrote it that may not change all documents"
    if not marks and any(matches(where, newer) and not matches(where, older) for where in writers):
        return "a key may have written it that may not change the document that it names"
    if not _has_rank(read_authority(newer.metadata), read_authority(older.metadata)):
        return "the document that it names has a higher authority, or the two authorities cannot be compared"
    return ""


def find_objection_of_years(
    newer: DocumentRef, older: DocumentRef, since: date | None, begun: date | None, is_field: bool
) -> str:
    """Returns why a document may not be the newer one by the years of names, where no two days tell; '' if it may.

    An old handbook that was indexed without a day names policies that are newer than itself. Who writes a field knows
    which of both is newer, unless a year says the opposite.
    """
    if since is not None and begun is not None:
        return ""
    year, older_year = _read_year(newer, since), _read_year(older, begun)
    if year is not None and older_year is not None and year < older_year:
        return OF_EARLIER_YEAR
    if is_field or begun is None:
        return ""
    return WITHOUT_DAY if year is None or (since is None and year == begun.year) else ""


def _read_year(ref: DocumentRef, day: date | None) -> int | None:
    """Returns the year of the day, or else the only year that the document's name tells."""
    if day is not None:
        return day.year
    years = {int(mark) for mark in family_of(ref.key, ref.title)[1] if _YEAR.fullmatch(mark)}
    return years.pop() if len(years) == 1 else None


def _has_rank(authority: str, needed: str) -> bool:
    if not needed or authority == needed:
        return True
    ranks = [_as_number(authority), _as_number(needed)]
    return ranks[0] is not None and ranks[1] is not None and ranks[0] >= ranks[1]


def _as_number(text: str) -> float | None:
    try:
        number = float(text) if len(text) < 20 else nan
    except ValueError:
        return None
    return number if isfinite(number) else None


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether another document counts more than this one (None: nothing tells), and why, as a clause on the other."""

    prevails: bool | None
    reason: str


def compare_standing(
    ref: DocumentRef,
    other: DocumentRef,
    begun: date | None,
    other_begun: date | None,
    writers: Sequence[DocumentFilter],
) -> Standing:
    """Returns which of two documents in force counts: the one of higher authority, or else the newer one, by their
    first days (`begun`) or the years of their names.
    """
    higher, reason = _compare_ranks(read_authority(ref.metadata), read_authority(other.metadata))
    if not reason:
        higher = _is_newer(ref, other, begun, other_begun)
        if higher is None:
            return Standing(None, "nothing tells which of both counts")
        reason = "it is newer" if higher else "it is older"
    if higher is None:
        return Standing(None, reason)
    claim = Statement(states=SUPERSEDES, value="", source=StatementSource.SENTENCE)
    if find_objection(other if higher else ref, ref if higher else other, claim, writers):
        return Standing(None, f"{reason}, but the writers of one may not change the other")
    return Standing(higher, reason)


def _is_newer(ref: DocumentRef, other: DocumentRef, begun: date | None, other_begun: date | None) -> bool | None:
    """Returns whether the other document is newer; None if both are of one time, or a time is unknown."""
    if begun is not None and other_begun is not None:
        return None if begun == other_begun else other_begun > begun
    year, others = _read_year(ref, begun), _read_year(other, other_begun)
    return None if year is None or others is None or year == others else others > year


def _compare_ranks(authority: str, others: str) -> tuple[bool | None, str]:
    """Returns whether the other authority is higher, and why; no reason if both are equal."""
    if _has_rank(authority, others) and _has_rank(others, authority):
        return None, ""
    if _has_rank(authority, others):
        return False, "its authority is lower"
    if _has_rank(others, authority):
        return True, "its authority is higher"
    return None, "their authorities cannot be compared"
