"""The rows of each strategy that was run on a dataset, under a name that tells it from the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evaluation.rows.answer_rows import AnswerRow
from evaluation.rows.model_rows import ModelRow, format_names, format_parameters

__all__ = ["group_by_strategy"]


@dataclass(frozen=True, kw_only=True)
class _Run:
    """What tells one run of a reasoner from the others."""

    reasoner: str
    unsupported: str
    models: tuple[ModelRow, ...]
    prompt_set: str
    fingerprint: str

    @property
    def facets(self) -> tuple[str, ...]:
        """What a name may say of the run, the most telling first."""
        prompts = self.prompt_set and f"prompts {self.prompt_set}"
        return self.unsupported, format_names(self.models), format_parameters(self.models), prompts


def group_by_strategy(rows: Sequence[AnswerRow]) -> Mapping[str, Sequence[AnswerRow]]:
    """Returns the rows of each reasoner, in the order of their first row.

    Rows of different models, parameters or prompts are different runs. A reasoner that was run in several ways is named
    with what its runs differ in (what is permitted below `stated`, the models, their parameters, the prompts), and with
    a number where that does not tell them apart.
    """
    runs: dict[_Run, list[AnswerRow]] = {}
    for row in rows:
        runs.setdefault(_identify(row), []).append(row)
    named: dict[str, Sequence[AnswerRow]] = {}
    for run, own in runs.items():
        others = [other.facets for other in runs if other.reasoner == run.reasoner]
        told = [
            facet for facet, values in zip(run.facets, zip(*others, strict=True), strict=True) if set(values) != {facet}
        ]
        name = ", ".join(filter(None, [run.reasoner, *told]))
        place = 1 + sum(one == name or one.startswith(f"{name} (run ") for one in named)
        named[name if place == 1 else f"{name} (run {place})"] = own
    return named


def _identify(row: AnswerRow) -> _Run:
    # The kind of a server is not always told, and so makes no run: the fingerprint knows the address.
    models = tuple(replace(model, endpoint="") for model in row.models)
    return _Run(
        reasoner=row.reasoner,
        unsupported=row.unsupported,
        models=models,
        prompt_set=row.prompt_set,
        fingerprint=row.fingerprint,
    )
