"""How numbers look in the tables of results."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

__all__ = ["counted", "percent", "rounded", "table"]

_UNKNOWN = "–"


def table(kind: str, numbers: Sequence[str]) -> Table:
    """A column of names under `kind`, and a column for each number."""
    made = Table(box=None, header_style="dim", pad_edge=False)
    made.add_column(Text(kind))
    for name in numbers:
        made.add_column(name, justify="right", no_wrap=True)
    return made


def percent(fraction: float | None) -> str:
    return _UNKNOWN if fraction is None else f"{100 * fraction:.1f}"


def rounded(value: float | None, digits: int) -> str:
    return _UNKNOWN if value is None else f"{value:,.{digits}f}"


def counted(count: float) -> str:
    """A whole number, but for an average of some."""
    return f"{count:g}"
