"""The result of a reproduction in the shape of the paper's table, with the published numbers in parentheses; pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.report.aggregates import escape, make_markdown_table
from evaluation.report.result import Result
from evaluation.reproduction.reproduction import (
    OVERALL,
    UNKNOWN,
    Column,
    PlacedDataset,
    Reproduction,
    TableRow,
    dataset_names,
)
from evaluation.rows.answer_rows import ModelRow, format_names
from evaluation.scores import mean_of_known

_TOKENS = "tokens_per_query"
_LEGEND = "Measured here; in parentheses, the paper's number (–: not known, or not run)."


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The results of a reproduction, one for each of its datasets. `embedding` names the embedding model."""

    reproduction: Reproduction
    results: Sequence[Result]
    embedding: str

    def build_page(self) -> str:
        """Returns a Markdown page: the table, what differs from the paper, and what it cost."""
        table = self.reproduction.table
        lines = ([escape(name), *cells] for name, *cells in self.lines)
        parts = [
            f"# {table.id}: {escape(table.title)}",
            f"{escape(table.paper.name)}, arXiv {table.paper.arxiv}. {_LEGEND}",
            make_markdown_table([escape(heading) for heading in self.headings], lines),
            escape(self.difference, 2_000),
            escape(self.counted),
            *([f"Not run: {self.not_run}."] if self.not_run else []),
        ]
        return "\n\n".join(parts) + "\n"

    def build_report(self) -> dict[str, Any]:
        """Returns the numbers of each row that was run, by dataset, as JSON.

        Published numbers are texts, as the paper prints them (null: not known); measured numbers are not scaled.
        """
        table = self.reproduction.table
        return {
            "table": table.id,
            "paper": table.paper.arxiv,
            "rows": [
                {
                    "name": row.name,
                    "strategy": row.spec,
                    "dataset": placed.folder.resolve().name,
                    "stands_for": placed.key,
                    "measured": {column.metric: _find(result, row, column.metric) for column in table.columns},
                    "published": {
                        column.metric: None if (number := row.find_published(placed.key, place)) == UNKNOWN else number
                        for place, column in enumerate(table.columns)
                    },
                    "questions": result.questions,
                }
                for placed, result in self._pairs()
                for row in self.reproduction.rows
            ],
            "difference": self.difference,
            "counted": self._count(),
        }

    @property
    def legend(self) -> str:
        return _LEGEND

    @property
    def difference(self) -> str:
        """One line that says how models and data differ from the paper's."""
        measured = "; ".join(
            f"{_format_count(result.questions, 'question')} of {placed.folder.resolve().name}"
            f"{f' for {dataset_names()[placed.key]}' if placed.key else ''} over {_describe_passages(result)}"
            for placed, result in self._pairs()
        )
        models = " or ".join(dict.fromkeys(self._models())) or "no language model"
        judges = " or ".join(dict.fromkeys(self._judges()))
        models += f", judged by {judges}" if judges else ""
        paper = self.reproduction.table.paper
        return f"Here: {models}, embedding model {self.embedding}, {measured}. The paper: {paper.setting}."

    @property
    def counted(self) -> str:
        """One line with the cost of all answers and searches, stored answers included."""
        cost = self._count()
        made = [f"{_format_count(cost['answers'], 'answer')}, stored ones included"] if cost["answers"] else []
        made += [_format_count(cost["searches"], "search")] if cost["searches"] else []
        return (
            f"Counted: {cost['calls']:,} calls and {cost['tokens']:,} tokens in {cost['seconds']:,.0f} s, "
            f"for {' and '.join(made)}; {cost['failed']:,} failed"
        )

    @property
    def not_run(self) -> str:
        """The rows of the table that cannot be run, with their reasons; '' if there are none."""
        return "; ".join(f"{row.name}: {row.not_run}" for row in self.reproduction.table.rows if row.not_run)

    @property
    def headings(self) -> list[str]:
        """The headings of the table, first the heading of the names."""
        table = self.reproduction.table
        if table.shape == "datasets":
            return ["", *(column.heading for column in table.columns)]
        by_dataset = [
            f"{placed.title}: {column.heading}" for placed in self.reproduction.datasets for column in table.columns
        ]
        return ["", *by_dataset, *(f"all: {column.heading}" for column in table.overall)]

    @property
    def lines(self) -> list[list[str]]:
        """The name and the cells of each line; rows that were not run have their published numbers alone."""
        table, rows = self.reproduction.table, self.reproduction.table.rows
        if table.shape == "systems":
            return [
                [
                    row.name,
                    *(cell for placed, result in self._pairs() for cell in self._cells(placed, result, row)),
                    *self._overall_cells(row),
                ]
                for row in rows
            ]
        return [
            [
                placed.title if len(rows) == 1 else f"{placed.title}, {row.name}",
                *self._cells(placed, result, row),
            ]
            for placed, result in self._pairs()
            for row in rows
        ]

    def _cells(self, placed: PlacedDataset, result: Result, row: TableRow) -> list[str]:
        return [
            _cell(column, self._measure(result, row, column), row.find_published(placed.key, place))
            for place, column in enumerate(self.reproduction.table.columns)
        ]

    def _overall_cells(self, row: TableRow) -> list[str]:
        return [
            _cell(
                column,
                mean_of_known([self._measure(result, row, column) for result in self.results]),
                row.find_published(OVERALL, place),
            )
            for place, column in enumerate(self.reproduction.table.overall)
        ]

    def _measure(self, result: Result, row: TableRow, column: Column) -> float | None:
        return _find(result, row, column.metric) if row in self.reproduction.rows else None

    def _pairs(self) -> Iterator[tuple[PlacedDataset, Result]]:
        return zip(self.reproduction.datasets, self.results, strict=True)

    def _models(self) -> Iterator[str]:
        for result in self.results:
            yield from (format_names(row.models) for row in result.searches if row.models)
            for scores in result.reasoners.values():
                if scores["models"]:
                    names = format_names([ModelRow(**model) for model in scores["models"]])
                    folder, _, replaced = scores["prompt_set"].partition(" ")
                    yield f"{names} with the prompts {folder}" if replaced else names

    def _judges(self) -> Iterator[str]:
        for result in self.results:
            yield from (format_names(row.models) for row in result.judgements if row.models)

    def _count(self) -> dict[str, Any]:
        rows = [row for result in self.results for row in result.answers]
        judged = [row for result in self.results for row in result.judgements]
        searched = [row for result in self.results for row in result.searches]
        costs = [*(row.cost for row in rows), *(row.cost for row in judged), *(row.cost for row in searched)]
        return {
            "answers": len(rows),
            "searches": len(searched),
            "failed": sum(row.error is not None for row in rows) + sum(row.error is not None for row in searched),
            "calls": sum(cost.calls for cost in costs),
            "tokens": sum(cost.prompt_tokens + cost.completion_tokens for cost in costs),
            "seconds": sum(row.seconds for row in rows) + sum(row.seconds for row in searched),
        }


def _find(result: Result, row: TableRow, metric: str) -> float | None:
    """Returns a number of a row's scores by its path; None if the dataset has no such number."""
    if row.searcher:
        return result.searchers[row.searcher].means.get(metric)
    scores: Any = result.reasoners[row.reasoner]
    if metric == _TOKENS:
        return float(scores["prompt_tokens_per_query"] + scores["completion_tokens_per_query"])
    for name in metric.split("."):
        scores = scores.get(name) if isinstance(scores, Mapping) else None
    return None if scores is None else float(scores)


def _format_count(number: int, what: str) -> str:
    """Returns such as `1 answer`, `2 answers` or `3 searches`."""
    ending = "" if number == 1 else "es" if what.endswith("ch") else "s"
    return f"{number:,} {what}{ending}"


def _cell(column: Column, measured: float | None, published: str) -> str:
    return f"{column.format(measured)} ({published})"


def _describe_passages(result: Result) -> str:
    return f"{result.passages:,} passages" if result.passages else f"the corpus {result.corpus}"
