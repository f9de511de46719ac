"""What `hopweave reproduce` shows: the list of tables, one table with its published numbers, costs and results."""

import asyncio
from typing import Any

from app.container import Container
from app.services.estimates import ModelEstimate
from cli.output.console import counted, print_result, print_status, table
from core.settings import Settings
from evaluation import OVERALL, Outcome, Reproduction, Table, dataset_names, estimate_extraction, list_tables

__all__ = ["describe_tables", "print_estimate", "show_outcome", "show_table", "show_tables", "table_to_dict"]


def describe_tables() -> dict[str, Any]:
    """Returns all tables as JSON."""
    return {"tables": [table_to_dict(one) for one in list_tables()]}


def table_to_dict(one: Table) -> dict[str, Any]:
    """Returns a table with its rows and published numbers as JSON."""
    return {
        "id": one.id,
        "paper": one.paper.name,
        "arxiv": one.paper.arxiv,
        "compares": one.title,
        "datasets": list(one.datasets),
        "columns": [column.heading for column in one.columns],
        "overall": [column.heading for column in one.overall],
        "needs": list(one.needs),
        "rows": [
            {
                "name": row.name,
                "strategy": row.spec,
                "not_run": row.not_run,
                "published": {dataset: list(numbers) for dataset, numbers in row.published.items()},
            }
            for row in one.rows
        ],
    }


def show_tables() -> None:
    """Prints a line for each table."""
    table(
        ("table", "paper", "compares", "datasets", "rows", "needs"),
        (
            (
                one.id,
                one.paper.name,
                one.title,
                ", ".join(one.datasets),
                f"{sum(bool(row.spec) for row in one.rows)} of {len(one.rows)}",
                ", ".join(one.needs),
            )
            for one in list_tables()
        ),
    )
    print_result(
        "hopweave reproduce TABLE shows a table's rows and published numbers, with --dataset DIR it runs them."
    )


def show_table(one: Table) -> None:
    """Prints the rows of a table with their published numbers."""
    print_result(f"{one.id}: {one.title}")
    print_result(f"{one.paper.name}, arXiv {one.paper.arxiv}: {one.paper.setting}")
    if one.needs:
        print_result(f"needs: {', '.join(one.needs)}")
    headings = [f"{dataset_names()[dataset]}: {column.heading}" for dataset in one.datasets for column in one.columns]
    rows = []
    for row in one.rows:
        cells = [
            row.find_published(dataset, place)
            for dataset, columns in (*((dataset, one.columns) for dataset in one.datasets), (OVERALL, one.overall))
            for place in range(len(columns))
        ]
        rows.append((row.name, *cells, row.spec or f"not run: {row.not_run}"))
    table(("row", *headings, *(column.heading for column in one.overall), "strategy"), rows)


def print_estimate(settings: Settings, reproduction: Reproduction) -> None:
    """Prints what the run costs: the answers of all rows, and the extraction by a language model if there is one."""
    cost = reproduction.estimate_cost()
    asked = f"{counted(cost.questions, 'question')} × {counted(len(reproduction.rows), 'row')}"
    print_status(
        f"estimate: {asked}: about {cost.calls:,.0f} calls and {cost.tokens:,.0f} tokens of a language model; stored "
        "answers cost nothing"
    )
    for folder, model in asyncio.run(_estimate_extraction(settings, reproduction)):
        print_status(
            f"estimate: extraction from {folder}, if it is not indexed yet: {model.calls:,} calls and "
            f"{model.prompt_tokens + model.completion_tokens:,} tokens"
        )


async def _estimate_extraction(settings: Settings, reproduction: Reproduction) -> list[tuple[str, ModelEstimate]]:
    container = Container(settings)
    try:
        found = [
            (folder.resolve().name, await estimate_extraction(container, folder, reproduction.experiment))
            for folder in reproduction.folders
        ]
        return [(name, model) for name, model in found if model is not None]
    finally:
        await container.close()


def show_outcome(outcome: Outcome) -> None:
    """Prints the table in the paper's shape, what differs from the paper, and what it cost."""
    one = outcome.reproduction.table
    print_result(f"{one.id}: {one.title} ({one.paper.name}, arXiv {one.paper.arxiv})")
    table([heading.replace(": ", ":\n") for heading in outcome.headings], outcome.lines)
    print_result(outcome.legend)
    print_result(outcome.difference)
    print_result(outcome.counted)
    if outcome.not_run:
        print_result(f"Not run: {outcome.not_run}")
