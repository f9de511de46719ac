"""An answer with more quotes: each is written as a paragraph before a place, and all markers are numbered again."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.documents import Span
from core.ports.reasoning import Citation

_MARKERS = re.compile(r"(?: ?\[\d{1,3}\])+")
_BETWEEN = "\n\n"
_NUMBER = re.compile(r"\[(\d{1,3})\]")


@dataclass(frozen=True, kw_only=True)
class Insertion:
    """A quote that is to stand before the paragraph of a place. The marker and the place of `citation` are set anew; a
    marker other than 0 is of a passage that the answer cites already.
    """

    before: int
    citation: Citation


@dataclass(frozen=True, kw_only=True)
class _Edit:
    """Words in the place of `start` to `end`: markers behind a quote, or nothing yet."""

    start: int
    end: int
    inserted: Insertion | None = None


def insert_quotes(
    text: str, citations: Sequence[Citation], insertions: Sequence[Insertion]
) -> tuple[str, tuple[Citation, ...]]:
    """Returns the text with the quotes, and all citations in the order of the text.

    Only the markers directly behind the words of a citation are markers: a quote may have a number in brackets itself.
    """
    edits = [_insert_at(_begin(text, insertion.before), insertion) for insertion in insertions]
    ends = {citation.answer_span.end for citation in citations}
    edits += [_Edit(start=end, end=found.end()) for end in ends if (found := _MARKERS.match(text, end)) is not None]
    numbers: dict[int, int] = {}
    out, at, made, moved = "", 0, list[Citation](), list[tuple[int, int]]()
    for edit in sorted(edits, key=lambda edit: edit.start):
        out += text[at : edit.start]
        at = edit.end
        if edit.inserted is None:
            out += _NUMBER.sub(lambda found: f"[{_number(numbers, int(found[1]))}]", text[edit.start : edit.end])
        else:
            quote = " ".join(edit.inserted.citation.quote.split())
            marker = _number(numbers, edit.inserted.citation.marker or -len(made) - 1)
            span = Span(start=len(out), end=len(out) + len(quote))
            made.append(replace(edit.inserted.citation, marker=marker, answer_span=span))
            out += f"{quote} [{marker}]\n\n"
        moved.append((edit.start if edit.inserted is not None else edit.start + 1, len(out) - at))
    kept = [_move(citation, numbers, moved) for citation in citations]
    return out + text[at:], tuple(sorted([*made, *kept], key=lambda citation: citation.answer_span.start))


def take_out(text: str, citations: Sequence[Citation], taken: Citation) -> tuple[str, tuple[Citation, ...]] | None:
    """Returns the text and the citations without the paragraph of one quote; None if the paragraph has more than it."""
    start, end = taken.answer_span.start, taken.answer_span.end
    markers = _MARKERS.match(text, end)
    stop = markers.end() if markers else end
    is_alone = text[:start].endswith(_BETWEEN) and text[stop : stop + len(_BETWEEN)] in ("", _BETWEEN)
    others = [citation for citation in citations if citation is not taken]
    if not is_alone or any(start <= other.answer_span.start < stop for other in others):
        return None
    length = stop - start + len(_BETWEEN)
    moved = [
        citation if citation.answer_span.start < start else replace(citation, answer_span=_shift(citation, -length))
        for citation in others
    ]
    return text[: start - len(_BETWEEN)] + text[stop:], tuple(moved)


def _shift(citation: Citation, by: int) -> Span:
    return Span(start=citation.answer_span.start + by, end=citation.answer_span.end + by)


def _insert_at(place: int, insertion: Insertion) -> _Edit:
    return _Edit(start=place, end=place, inserted=insertion)


def _begin(text: str, place: int) -> int:
    return text.rfind("\n", 0, place) + 1


def _number(numbers: dict[int, int], known: int) -> int:
    return numbers.setdefault(known, len(numbers) + 1)


def _move(citation: Citation, numbers: dict[int, int], moved: Sequence[tuple[int, int]]) -> Citation:
    span = citation.answer_span
    start, end = (place + _find_shift(place, moved) for place in (span.start, span.end))
    return replace(citation, marker=_number(numbers, citation.marker), answer_span=Span(start=start, end=end))


def _find_shift(place: int, moved: Sequence[tuple[int, int]]) -> int:
    """Returns by how much a place moves: `moved` has the places from which on the text moves, and by how much."""
    return next((shift for begin, shift in reversed(moved) if begin <= place), 0)
