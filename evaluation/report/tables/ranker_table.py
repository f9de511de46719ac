"""The table of a trained ranker's gains, for the terminal."""

from rich.console import Group
from rich.table import Table
from rich.text import Text

from evaluation.ranker.training import TrainedRanker
from evaluation.scores.bootstrap import LEVEL, Interval

__all__ = ["build_ranker_table"]

_NOTE = (
    "The ranker by cross-validation over all sets: each question is ranked by weights that have not seen it. "
    f"The difference has its {LEVEL:.0%} interval by paired bootstrap: bold where it does not contain 0."
)


def build_ranker_table(trained: TrainedRanker) -> Group:
    """Returns R@5 by dataset in percent, and differences in points; with several datasets the last row is all
    questions.
    """
    several = len(trained.judgements) > 1
    table = Table(box=None, header_style="dim", pad_edge=False, collapse_padding=True)
    table.add_column("R@5", no_wrap=True)
    for name in ("questions", "stage 1", "ranker", "difference", *(("trained on\nthe others",) if several else ())):
        table.add_column(name, justify="right", no_wrap=True)
    for one in trained.judgements:
        others = [] if one.transferred is None else [_percent(one.transferred)]
        shares = [_percent(one.stage1), _percent(one.ranker)]
        table.add_row(Text(one.dataset), str(one.questions), *shares, _points(one.difference), *others)
    if several:
        asked = sum(one.questions for one in trained.judgements)
        before = sum(one.questions * one.stage1 for one in trained.judgements) / asked
        after = sum(one.questions * one.ranker for one in trained.judgements) / asked
        shares = [_percent(before), _percent(after)]
        table.add_row("all questions", str(asked), *shares, _points(trained.difference), "")
    return Group(table, Text(_NOTE, style="dim"))


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _points(found: Interval) -> Text:
    points = f"{100 * found.mean:+.1f} ({100 * found.low:+.1f} to {100 * found.high:+.1f})"
    return Text(points, style="bold" if found.clear_of_zero else "")
