"""Tables of a PDF by the alignment of their figures: which cell of a row stands in which column.

A page draws only what is there. A row without a figure in its second column has one piece less than other rows, and a
name may stand above several columns. Here each row gets a cell for each column, so that a reader of its line knows the
column of each figure. Rows of prose, and tables without figures, are left to the order of reading.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, product, takewhile, zip_longest
from statistics import median

from indexer.loading.pdf.runs import Run
from indexer.loading.pdf.table_rows import Piece, Row, is_figure, is_number, read_row

_FEWEST_ROWS = 2
_MOST_LABELS = 3
"""Lines between two rows of a table, which are labels of groups or broken labels of rows."""
_MOST_HEADER_ROWS = 5
_WIDEST_GAP = 4.0
"""Heights of a character between a row and the next line of the same table."""
_LONGEST_LABEL, _LONGEST_NAME = 160, 60
_NARROW = 8
"""Characters of the name of a narrow first column, such as `Pos.`, beside which the next name stands close."""
_CLEARLY = 2.0
"""Points by which a name stands nearer to the middle of several columns than to the middle of what it touches."""
_TIGHT = 0.1
"""Heights of a character between two lines of one name; rows are further apart."""
_MOST_COLUMNS = 40
_OFF_CENTRE = 0.05
"""How far from the middle of all columns a name may stand that is above all of them, as a share of their width."""
_ALIGNED = 0.3
"""Heights of a character between the left ends of words that stand in one column."""
_SAME_SIZE = 0.15
"""By how much the sizes of characters of one label may differ, as a share; a heading above it is larger."""
_BROKEN_SHARE = 0.15
"""Share of rows that have two pieces in one column; with more, the columns are not known."""


_Column = tuple[float, float]
"""The left and right end of a column."""


@dataclass(kw_only=True)
class _Table:
    """Cells by row, and rows that go on with the row below or above them: names and labels broken over lines."""

    cells: dict[int, list[str]]
    joins: dict[int, int]

    def join(self, number: int, into: int, *, is_after: bool) -> None:
        """Puts the words of a row before, or after, the words of the row `into`, cell by cell."""
        own, others = self.cells.pop(number, []), self.cells[into]
        upper, lower = (others, own) if is_after else (own, others)
        pairs = zip_longest(upper, lower, fillvalue="")
        self.cells[into] = [" ".join(part for part in pair if part) for pair in pairs]
        self.joins[number] = into


def align_rows(rows: Sequence[Sequence[Run]]) -> Iterator[tuple[Sequence[Run], Sequence[str]]]:
    """Yields the rows of a region from the top, each with its cells if it is part of a table.

    The first cell is the label of the row. If a name stands above several columns, the cell of the first column has
    it, and the other cells are empty. Rows whose names or labels go on in the next row become one row.
    """
    read = [read_row(row) for row in rows]
    table = _Table(cells={}, joins={})
    for first, numbers in _find_bodies(read):
        body = [read[number] for number in numbers]
        columns = _find_columns(body)
        if not 1 <= len(columns) <= _MOST_COLUMNS:
            continue
        aligned = [_align(row, columns) for row in body]
        if sum(row is None for row in aligned) > _BROKEN_SHARE * len(body):
            continue
        table.cells |= {number: row for number, row in zip(numbers, aligned, strict=True) if row is not None}
        _align_header(read, numbers[0], first, columns, table)
        _join_labels(read, numbers, columns, table)
    whole: dict[int, list[Run]] = {}
    for number, row in enumerate(rows):
        whole.setdefault(table.joins.get(number, number), []).extend(row)
    for number in sorted(whole):
        yield whole[number], table.cells.get(number, ())


def _find_bodies(rows: Sequence[Row]) -> Iterator[tuple[int, list[int]]]:
    """Yields the numbers of the rows with figures of each table, and the number of the first row that may be its
    header.
    """
    numbers: list[int] = []
    end = 0
    for number, row in enumerate(rows):
        if numbers and not _goes_on(rows, numbers[-1], number):
            if len(numbers) >= _FEWEST_ROWS:
                yield end, numbers
            end, numbers = numbers[-1] + 1, []
        if row.has_figures:
            numbers.append(number)
    if len(numbers) >= _FEWEST_ROWS:
        yield end, numbers


def _goes_on(rows: Sequence[Row], last: int, number: int) -> bool:
    """Whether a table whose last row with figures is `last` may go on with the row `number`."""
    row = rows[number]
    if rows[number - 1].bottom - row.top > _WIDEST_GAP * row.size or number - last > _MOST_LABELS + 1:
        return False
    if row.has_figures:
        return True
    label = row.pieces[0]
    start = rows[last].pieces[1].left
    if len(row.pieces) > 1 or len(label.text) > _LONGEST_LABEL or label.left >= start:
        return False
    return not any(part.left >= start for part in label.parts)  # they are the names of other columns


def _find_columns(body: Sequence[Row]) -> list[_Column]:
    """Returns the columns right of the labels: the strips in which pieces of rows stand.

    A wide piece that stands in several columns, such as a note in a row, does not join them.
    """
    columns: list[tuple[float, float, int]] = []
    pieces = [part for row in body for piece in row.pieces[1:] for part in _cut_number(piece)]
    for piece in sorted(pieces, key=lambda piece: piece.right - piece.left):
        touched = [column for column in columns if _overlap(piece, column[:2]) > 0]
        if len(touched) > 1 and all(count >= _FEWEST_ROWS for _, _, count in touched):
            continue
        columns = [column for column in columns if column not in touched]
        left = min([piece.left, *(column[0] for column in touched)])
        right = max([piece.right, *(column[1] for column in touched)])
        columns.append((left, right, 1 + sum(column[2] for column in touched)))
        if len(columns) > 2 * _MOST_COLUMNS:  # words all over a page are no table
            return []
    return sorted((left, right) for left, right, _ in columns)


def _cut_number(piece: Piece) -> Sequence[Piece]:
    """Returns the words and the number of a piece that ends with a number, which stands close to them."""
    if not piece.parts or not is_number(piece.parts[-1].text):
        return [piece]
    return [_join_pieces(piece.parts[:-1]), piece.parts[-1]]


def _align(row: Row, columns: Sequence[_Column]) -> list[str] | None:
    """Returns the cells of a row; None if two of its pieces stand in one column."""
    cells = [""] * (len(columns) + 1)
    for number, piece in enumerate(_split_pieces(row, columns)):
        place = 0
        if number or piece.left >= columns[0][0]:
            place = 1 + _nearest(piece, columns)
        if cells[place]:
            return None
        cells[place] = piece.text
    return cells


def _split_pieces(row: Row, columns: Sequence[_Column]) -> Iterator[Piece]:
    """Yields the pieces of a row, cut where a part of a piece begins another column: a figure that stands in it, or
    words that begin where it begins.
    """
    for piece in row.pieces:
        joined: list[Piece] = []
        for part in piece.parts or [piece]:
            begins = any(
                _overlap(part, column) > 0
                if is_number(part.text) and any(map(str.isdigit, part.text))
                else abs(part.left - column[0]) <= _ALIGNED * row.size
                for column in columns
                if not joined or joined[-1].right <= column[0]
            )
            if joined and begins:
                yield _join_pieces(joined)
                joined = []
            joined.append(part)
        yield _join_pieces(joined) if piece.parts else piece


def _join_pieces(pieces: Sequence[Piece]) -> Piece:
    return Piece(" ".join(piece.text for piece in pieces), pieces[0].left, pieces[-1].right)


def _nearest(piece: Piece, columns: Sequence[_Column]) -> int:
    return min(range(len(columns)), key=lambda n: (_distance(piece, columns[n]), -_overlap(piece, columns[n])))


def _align_header(rows: Sequence[Row], body: int, first: int, columns: list[_Column], table: _Table) -> None:
    """Adds the cells of the rows above a body that name its columns.

    The lowest rows become one row if each of their names stands above one column: they are names broken over lines.
    """
    lowest = -1
    is_leaf = True
    edge = min(row.pieces[0].left for row in rows[body:] if row.has_figures)
    for number in _find_header(rows, body, first, columns):
        gap = rows[number].bottom - rows[number + 1].top
        is_broken = (number + 1 in table.cells or number + 1 in table.joins) and gap < _TIGHT * rows[number].size
        if lowest >= 0 and len(rows[number].pieces) == 1 and rows[number].pieces[0].left <= edge + rows[number].size:
            break  # a line of text that begins where the labels do
        spans = _name_columns(rows[number], columns, single=is_broken, wide=lowest >= 0)
        if spans is None:
            break
        cells = [""] * (len(columns) + 1)
        for piece, (start, _) in spans:
            cells[start] = piece.text
        table.cells[number] = cells
        is_leaf = is_leaf and all(end - start <= 1 for _, (start, end) in spans)
        if is_leaf and lowest >= 0:
            table.join(number, lowest, is_after=False)
        elif is_leaf:
            lowest = number
            _widen(columns, spans)


def _find_header(rows: Sequence[Row], body: int, first: int, columns: Sequence[_Column]) -> Iterator[int]:
    """Yields the numbers of the rows above a body that may name its columns, from below."""
    labels = found = 0
    for number in range(body - 1, first - 1, -1):
        is_heading = rows[number].size > (1 + _SAME_SIZE) * rows[body].size and len(rows[number].pieces) == 1
        if (
            is_heading
            or found == _MOST_HEADER_ROWS
            or rows[number].bottom - rows[number + 1].top > _WIDEST_GAP * rows[number].size
        ):
            return
        if not _is_between(rows[number], columns):
            found += 1
            yield number
        elif found or labels == _MOST_LABELS:
            return
        else:
            labels += 1


def _widen(columns: list[_Column], spans: Sequence[tuple[Piece, tuple[int, int]]]) -> None:
    """Makes columns as wide as their names, above which other names stand in the middle."""
    for piece, (start, _) in spans:
        if start:
            left, right = columns[start - 1]
            columns[start - 1] = (min(left, piece.left), max(right, piece.right))


def _is_between(row: Row, columns: Sequence[_Column]) -> bool:
    """Whether a line between header and body is of neither: a unit in parentheses, or the label of a group or row."""
    piece = row.pieces[0]
    if len(row.pieces) > 1 or len(piece.text) > _LONGEST_LABEL:
        return False
    if piece.text.startswith("(") and piece.text.endswith(")"):
        return True
    is_prose = piece.text.endswith(".") and piece.right > columns[0][0]
    return piece.middle < columns[0][0] and piece.right < columns[-1][1] and not is_prose


def _name_columns(
    row: Row, columns: Sequence[_Column], *, single: bool, wide: bool
) -> list[tuple[Piece, tuple[int, int]]] | None:
    """Returns the names in a row of a header, each with the range of columns below it (the end is exclusive); None if
    the row is no header. Column 0 has the labels.

    With `single`, each name stands above one column: this row and the next row are lines of the same names. With
    `wide`, the row is above a row that names each column.
    """
    pieces = [part for piece in row.pieces for part in _split_names(piece, columns)]
    if len(pieces) == len(columns) + 2 and pieces[1].right <= columns[0][0]:  # the labels are two columns of words
        pieces = [_join_pieces(pieces[:2]), *pieces[2:]]
    if len(pieces) > len(columns) + 1:
        return None
    if any(len(piece.text) > _LONGEST_NAME or is_figure(piece.text) for piece in pieces):
        return None
    is_label = len(pieces) > 1 and (
        pieces[0].middle < min(columns[0][0], columns[0][1] - _pitch(columns))
        or (len(pieces[0].text) <= _NARROW and pieces[0].right <= columns[0][0] and _overlap(pieces[1], columns[0]) > 0)
    )
    names = pieces[1:] if is_label else pieces
    if not names or names[0].right <= columns[0][0] - 3 * row.size:
        return None
    if len(pieces) == 1 and names[0].left < columns[0][0] - 6 * row.size:
        return None
    spans = [(pieces[0], (0, 1))] if is_label else []
    for piece in names:
        others = [one for one in names if one is not piece]
        nearest = _nearest(piece, columns)
        covered = range(nearest, nearest + 1) if single else _covered(piece, others, columns, wide=wide)
        if spans and covered.start + 1 < spans[-1][1][1]:
            return None
        spans.append((piece, (covered.start + 1, covered.stop + 1)))
    return spans


def _split_names(piece: Piece, columns: Sequence[_Column]) -> Sequence[Piece]:
    """Returns the parts of a piece if each is above another column: names that stand close to one another."""
    places = {_nearest(part, columns) if part.middle >= columns[0][0] else -1 for part in piece.parts}
    return piece.parts if piece.parts and len(places) == len(piece.parts) else [piece]


def _join_labels(rows: Sequence[Row], numbers: Sequence[int], columns: Sequence[_Column], table: _Table) -> None:
    """Joins labels that are broken over lines with their rows, to which they are nearer than rows are to one another.

    The figures of such a row stand beside its first or last line. A raised mark of a footnote, which is a line of its
    own, follows the label. Words of other cells may be broken, too, if the row stands beside their first line.
    """
    end = columns[0][0]
    gaps = [rows[one].bottom - rows[two].top for one, two in pairwise(numbers) if two == one + 1]
    if not gaps:
        return
    nearest = median(gaps) - 0.12 * median(rows[number].size for number in numbers)
    for number in numbers:
        if number not in table.cells:
            continue
        parts = list(islice(_find_above(rows, number, end, nearest, table), _MOST_LABELS + 1))
        for above in parts if len(parts) <= _MOST_LABELS else ():  # more lines are a paragraph above the table
            table.cells[above] = [rows[above].pieces[0].text]
            table.join(above, number, is_after=_is_mark(rows[above], rows[number]))
        below = number + 1
        while below < len(rows) and below not in table.cells and below not in table.joins:
            is_near = rows[below - 1].bottom - rows[below].top <= nearest
            cells = _continue_cells(rows[below], columns, rows[number])
            if not is_near or not cells or _is_near_below(rows, below, nearest):
                break
            table.cells[below] = cells
            table.join(below, number, is_after=True)
            below += 1


def _continue_cells(row: Row, columns: Sequence[_Column], of: Row) -> list[str]:
    """Returns the cells of a line that goes on with the label of a row, or with words of its cells; [] if it does
    not.
    """
    if _is_label(row, columns[0][0], of):
        return [row.pieces[0].text]
    begun = [piece.left for piece in of.pieces]
    goes_on = all(any(abs(piece.left - left) <= _ALIGNED * row.size for left in begun) for piece in row.pieces)
    has_words = not any(is_figure(piece.text) or piece.text.endswith(":") for piece in row.pieces)
    return (_align(row, columns) or []) if goes_on and has_words else []


def _find_above(rows: Sequence[Row], number: int, end: float, nearest: float, table: _Table) -> Iterator[int]:
    """Yields the lines above a row that may be parts of its label, the nearest line first."""
    for above in range(number - 1, -1, -1):
        is_far = rows[above].bottom - rows[above + 1].top > nearest
        if is_far or above in table.cells or not _is_label(rows[above], end, rows[number]):
            return
        yield above


def _is_near_below(rows: Sequence[Row], number: int, nearest: float) -> bool:
    following = number + 1
    return following < len(rows) and rows[number].bottom - rows[following].top <= nearest


def _is_mark(row: Row, of: Row) -> bool:
    """Whether a label is raised, and stands at the end of another label."""
    return row.pieces[0].left >= of.pieces[0].middle and len(row.pieces[0].text) < len(of.pieces[0].text)


def _is_label(row: Row, end: float, of: Row) -> bool:
    """Whether a line may be a part of the label of the row `of`, which a heading above or below it is not."""
    is_large = row.size > (1 + _SAME_SIZE) * of.size
    return len(row.pieces) == 1 and row.pieces[0].left < end and not row.pieces[0].text.endswith(":") and not is_large


def _covered(piece: Piece, others: Sequence[Piece], columns: Sequence[_Column], *, wide: bool) -> range:
    """Returns the columns that a name stands above: the columns that it touches, and so many beside them that it stands
    in their middle. With `wide`, as many as possible: the columns have names of their own.
    """
    touched = [n for n, column in enumerate(columns) if _overlap(piece, column) > 0] or [_nearest(piece, columns)]
    low, high = touched[0], touched[-1]
    left, right = columns[0][0], columns[-1][1]
    if not others and high > low and abs((left + right) / 2 - piece.middle) <= _OFF_CENTRE * (right - left):
        return range(len(columns))

    def is_free(n: int) -> bool:
        return all(_distance(piece, columns[n]) < _distance(other, columns[n]) for other in others)

    starts = [low, *takewhile(is_free, range(low - 1, -1, -1))]
    ends = [high, *takewhile(is_free, range(high + 1, len(columns)))]
    found = [(_measure_off(piece, columns, a, b), range(a, b + 1)) for a, b in product(starts, ends)]
    near = 0.25 * (right - left) / len(columns)
    if wide and (fitting := [covered for off, covered in found if off <= near]):
        return max(fitting, key=len)
    own, first = found[0]
    best, covered = min(found, key=lambda one: one[0])
    return covered if best < 0.5 * own and best + _CLEARLY < own else first


def _measure_off(piece: Piece, columns: Sequence[_Column], first: int, last: int) -> float:
    """Returns how far a name stands from the middle of some columns: of their figures, or of their cells, which begin
    where the column before ends, since figures are aligned at the right.
    """
    places = [(columns[first][0], columns[last][1])]
    if len(columns) > 1:
        start = columns[first - 1][1] if first else columns[0][1] - _pitch(columns)
        places.append((start, columns[last][1]))
    return min(abs((start + end) / 2 - piece.middle) for start, end in places)


def _pitch(columns: Sequence[_Column]) -> float:
    """Returns the mean distance of neighbouring columns; 0 for a single column."""
    return (columns[-1][1] - columns[0][1]) / max(len(columns) - 1, 1)


def _distance(piece: Piece, column: _Column) -> float:
    return max(column[0] - piece.right, piece.left - column[1], 0.0)


def _overlap(piece: Piece, column: _Column) -> float:
    return min(piece.right, column[1]) - max(piece.left, column[0])
