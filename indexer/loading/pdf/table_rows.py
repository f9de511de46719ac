"""Rows of a PDF's page as pieces: words that stand apart from others, with their places. Tables are made of them.

A page draws characters at places; how far apart the words of two cells stand differs from table to table. So a row is
cut at wide gaps into pieces, and a piece, at spaces that are wider than between words, into parts.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.passage_context.tables import is_amount, is_date
from indexer.loading.pdf.runs import Run

_SIGNS = "$€£¥"
_UNITS = "$€£¥%#"
"""Signs that are a line of a name: `%` above `Change`."""
_SIGN_AFTER = re.compile(r"(.{1,200})\s([$€£¥])\Z", re.DOTALL)
_SIGN_BETWEEN = re.compile(r"([^\s$€£¥]{1,30})\s([$€£¥]\s?[^\s$€£¥]{1,30})")
_NUMBER = re.compile(
    r"[(\[]?[$€£¥]? ?\(?[-+−–±<>≤≥~]? ?[$€£¥]? ?\d(?:[\d.,/'’\u202f\u00a0]{0,30}\d)?(?: ?[%‰])? ?[)\]]?%?"
    r"|[-−–—]"
)
_MOST_PARTS = 400
"""Parts of a row. A row with more parts is one cell: the time to join parts grows with the square of their number."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Words of a row that stand apart from others, and where they are from the left.

    `parts` are the parts between spaces that are wider than others; () without such spaces.
    """

    text: str
    left: float
    right: float
    parts: tuple["Piece", ...] = ()

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


@dataclass(frozen=True, slots=True)
class Row:
    """The pieces of a row, from the left, and its place from the bottom."""

    pieces: tuple[Piece, ...]
    top: float
    bottom: float
    size: float

    @property
    def has_figures(self) -> bool:
        return len(self.pieces) > 1 and any(is_figure(piece.text) for piece in self.pieces[1:])


def middle_of(run: Run) -> float:
    """Returns the height of the middle of a run."""
    return (run.top + run.bottom) / 2


def group_rows(runs: Iterable[Run]) -> list[list[Run]]:
    """Returns the runs by rows, from the top. Runs of one row overlap by half of their height."""
    rows: list[list[Run]] = []
    for run in sorted(runs, key=lambda run: -middle_of(run)):
        if rows and middle_of(run) > rows[-1][0].bottom + 0.25 * rows[-1][0].size:
            rows[-1].append(run)
        else:
            rows.append([run])
    return rows


def read_row(runs: Sequence[Run]) -> Row:
    ordered = sorted(runs, key=lambda run: run.left)
    size = max(runs, key=lambda run: len(run.text)).size
    top, bottom = max(run.top for run in runs), min(run.bottom for run in runs)
    if sum(1 + len(run.gaps) for run in runs) > _MOST_PARTS:
        whole = Piece(" ".join(run.text for run in ordered), ordered[0].left, max(run.right for run in runs))
        return Row((whole,), top, bottom, size)
    pieces: list[Piece] = []
    before: Run | None = None
    for run in ordered:
        parts = _split_run(run)
        if pieces and before is not None and run.left - before.right <= before.size:
            last = pieces.pop()
            parts = [*(last.parts or [last]), *parts]
        pieces += _join_parts(parts)
        before = run
    return Row(tuple(_join_signs(pieces)), top, bottom, size)


def _join_parts(parts: Sequence[Piece]) -> Iterator[Piece]:
    """Yields the pieces that parts make. Figures are pieces of their own if all parts are figures, or if most parts are
    figures side by side; a line of prose has only a few.
    """
    parts = _join_currency(parts)
    if all(is_figure(part.text) for part in parts):
        yield from parts
        return
    numbers = [is_number(part.text) for part in parts]
    are_most = 2 * sum(numbers) >= len(numbers)
    beside = [
        own and are_most and any(numbers[max(0, n - 1) : n] + numbers[n + 1 : n + 2]) for n, own in enumerate(numbers)
    ]
    joined: list[Piece] = []
    for part, is_alone in zip(parts, beside, strict=True):
        if is_alone:
            yield from _join(joined)
            joined = []
            yield part
        else:
            joined.append(part)
    yield from _join(joined)


def _join_currency(parts: Sequence[Piece]) -> Sequence[Piece]:
    """Returns the parts with signs of currency joined to the numbers behind them."""
    joined: list[Piece] = []
    for part in parts:
        if joined and joined[-1].text in _SIGNS and is_number(part.text):
            sign = joined.pop()
            joined.append(Piece(f"{sign.text}{part.text}", sign.left, part.right))
        else:
            joined.append(part)
    return joined


def _join(parts: Sequence[Piece]) -> Iterator[Piece]:
    if parts:
        text = " ".join(part.text for part in parts)
        right = max(part.right for part in parts)
        piece = Piece(text, parts[0].left, right, tuple(parts) if len(parts) > 1 else ())
        yield from _split_amounts(piece)


def _split_run(run: Run) -> list[Piece]:
    """Returns the parts of a run between its wide spaces."""
    at, left = 0, run.left
    parts = []
    for number, right, following in run.gaps:
        parts.append(Piece(run.text[at:number], left, right))
        at, left = number + 1, following
    parts.append(Piece(run.text[at:], left, run.right))
    return [one for part in parts for one in _split_amounts(part)]


def _split_amounts(piece: Piece) -> list[Piece]:
    """Returns two pieces for two amounts that only a sign of currency is between."""
    found = _SIGN_BETWEEN.fullmatch(piece.text)
    if found is None or not is_figure(found[1]) or not is_figure(found[2]):
        return [piece]
    at = piece.left + (piece.right - piece.left) * len(found[1]) / len(piece.text)
    return [Piece(found[1], piece.left, at), Piece(found[2].replace(" ", ""), at, piece.right)]


def _join_signs(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Yields the pieces with signs of currency before their amounts, from which reports set them apart."""
    sign: Piece | None = None
    for piece in pieces:
        if piece.text in _SIGNS:
            sign = piece
            continue
        found = _SIGN_AFTER.match(piece.text)
        following: Piece | None = None
        is_apart = bool(piece.parts) and piece.parts[-1].text in _SIGNS  # `4,75 €` in one cell is an amount
        if found and ((is_figure(found[1]) and is_apart) or piece is pieces[0]):
            width = (piece.right - piece.left) / len(piece.text)
            following = Piece(found[2], piece.right - width, piece.right)
            piece = Piece(found[1], piece.left, piece.right - 2 * width)  # noqa: PLW2901 - the rest of it
        if sign is not None and is_figure(piece.text):
            piece = Piece(f"{sign.text}{piece.text}", sign.left, piece.right)  # noqa: PLW2901 - with its sign
        elif sign is not None:
            yield sign
        yield piece
        sign = following
    if sign is not None:
        yield sign


def is_figure(text: str) -> bool:
    return is_amount(text) and text not in _UNITS


def is_number(text: str) -> bool:
    """Returns whether a text is a number, or the dash for a missing number; not a year, nor a sign between words."""
    return _NUMBER.fullmatch(text) is not None and not is_date(text)
