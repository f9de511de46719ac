"""Cells of tables: how numbers are formatted."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

__all__ = ["format_count", "format_number", "format_percent", "make_table"]

_UNKNOWN = "–"


def make_table(kind: str, numbers: Sequence[str]) -> Table:
    """Returns a table with a column of names under `kind`, and a column for each number."""
    made = Table(box=None, header_style="dim", pad_edge=False)
    made.add_column(Text(kind))
    for name in numbers:
        made.add_column(name, justify="right", no_wrap=True)
    return made


def format_percent(fraction: float | None) -> str:
    return _UNKNOWN if fraction is None else f"{100 * fraction:.1f}"


def format_number(value: float | None, digits: int) -> str:
    return _UNKNOWN if value is None else f"{value:,.{digits}f}"


def format_count(count: float) -> str:
    """Returns a whole number as such, and the average of several with its decimals."""
    return f"{count:g}"
