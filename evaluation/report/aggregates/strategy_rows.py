"""The rows of each strategy that was run on a dataset, under a name that tells it from the others."""

from collections.abc import Mapping, Sequence

from evaluation.rows.answer_rows import AnswerRow

__all__ = ["group_by_strategy"]


def group_by_strategy(rows: Sequence[AnswerRow]) -> Mapping[str, Sequence[AnswerRow]]:
    """Returns the rows of each reasoner, in the order of their first row.

    A reasoner that was run in several ways is named with what is permitted below `stated`, and with a number where that
    does not tell its runs apart.
    """
    runs: dict[tuple[str, str, str], list[AnswerRow]] = {}
    for row in rows:
        runs.setdefault((row.reasoner, row.unsupported, row.fingerprint), []).append(row)
    named: dict[str, Sequence[AnswerRow]] = {}
    for (reasoner, unsupported, _), own in runs.items():
        several = len({run[1] for run in runs if run[0] == reasoner}) > 1
        name = f"{reasoner}, {unsupported}" if several else reasoner
        place = 1 + sum(one == name or one.startswith(f"{name} (run ") for one in named)
        named[name if place == 1 else f"{name} (run {place})"] = own
    return named
