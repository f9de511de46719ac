"""What is found for a question over periods, or for values of one report: cells, and pairs of cells to divide."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.documents import DocumentRef
from core.ports.retrieval import Hit
from reasoning.strategies.extractive.over_periods.cells import SeriesCell

_SINGLE_NOTE = "The value stands in the cited table; no language model read whether it answers."
_PAIR_NOTE = "Each value stands in the cited table; no language model read whether it answers."
SERIES_NOTE = f"{_PAIR_NOTE} The change is computed."
_RATIO_NOTE = f"{_PAIR_NOTE} The percentage is computed."
_CUT_NOTE = " The rest of the question is not answered."


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """The values of one period that a percentage is computed from."""

    part: SeriesCell
    whole: SeriesCell


@dataclass(frozen=True, kw_only=True)
class Series:
    """The values in the order of time, the versions in which no row was found, how many older versions were not read,
    and the ends of the range that no version is of. `is_cut`: the question asks more. `ratios` are what percentages are
    computed from, if these are asked for, and `others` the series of other measures that the question asks for.
    `is_single`: it asks for values of one report. `closing` is what is computed of all series together.
    """

    cells: Sequence[SeriesCell]
    missing: Sequence[DocumentRef]
    is_cut: bool
    is_single: bool = False
    older: int = 0
    lacking: Sequence[str] = ()
    ratios: Sequence[Ratio] = ()
    others: Sequence["Series"] = ()
    closing: str = ""

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The passages that have the values, each once."""
        cells = [cell for series in (self, *self.others) for cell in series.cells]
        return tuple({cell.hit.chunk.id: cell.hit for cell in cells}.values())

    @property
    def asks_more(self) -> bool:
        """Whether the question asks for values of one report, and for something else."""
        return self.is_single and self.is_cut

    @property
    def note(self) -> str:
        note = _RATIO_NOTE if self.ratios else SERIES_NOTE
        if self.is_single:
            note = _RATIO_NOTE if self.ratios else _PAIR_NOTE if self.others else _SINGLE_NOTE
        return note + (_CUT_NOTE if self.is_cut else "")


def are_in_one_unit(first: SeriesCell, second: SeriesCell) -> bool:
    """Returns whether two values are amounts of one period and in one unit, so that one may be divided by the other."""
    if first.is_share or second.is_share or first.scale != second.scale:
        return False
    if first.amount.unit != second.amount.unit and first.amount.unit and second.amount.unit:
        return False
    if first.currency and second.currency and first.currency != second.currency:
        return False
    if first.period is None or second.period is None:
        return first.period is second.period
    return are_of_one_period(first, second)


def are_of_one_period(first: SeriesCell, second: SeriesCell) -> bool:
    """Returns whether two values are of periods of one end and one length."""
    if first.period is None or second.period is None:
        return False
    return (first.period.end, first.period.months) == (second.period.end, second.period.months)
