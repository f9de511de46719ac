"""`hopweave reproduce`: lists the tables of the papers, and runs one of them on question sets."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer

from app.container import Container
from app.services.estimates import ModelEstimate
from cli.commands.evaluation.eval import read_eval_settings
from cli.flows.evaluation import check_measured, check_outputs, default_rows, run_comparison, write_text
from cli.options import (
    AsJson,
    CorpusSample,
    FirstQuestions,
    Models,
    Prompts,
    RandomQuestions,
    Seed,
    Web,
    Where,
    parse_filter_text,
)
from cli.output.console import counted, print_json, print_result, print_status
from cli.output.console import table as print_table
from core.errors import InvalidInput
from core.filters import parse_filter
from core.settings import Settings
from evaluation import (
    OVERALL,
    Experiment,
    Outcome,
    Reproduction,
    RowsFile,
    Table,
    dataset_names,
    estimate_extraction,
    estimate_tree_summaries,
    find_table,
    list_tables,
    place_datasets,
    plan_reproduction,
)


def register(app: typer.Typer) -> None:
    """Add the command `reproduce`."""
    app.command(name="reproduce")(_reproduce)


def _reproduce(
    table: Annotated[
        str | None, typer.Argument(metavar="[TABLE]", help="Such as level.2. Without it, all tables are listed.")
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]DIR",
            help="A folder with corpus.jsonl and questions.jsonl, for the dataset of its name; repeatable. Without it, "
            "the table is described.",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="ROW", help="Run only the row of this name; repeatable.")
    ] = None,
    corpus: Annotated[str | None, typer.Option(help="An existing corpus, instead of indexing the folder.")] = None,
    extractor: Annotated[
        str | None,
        typer.Option(
            help="Such as pattern+llm. Default: pattern+given if a row needs triples, else pattern.", show_default=False
        ),
    ] = None,
    web: Web = False,
    model: Models = None,
    prompts: Prompts = None,
    concurrency: Annotated[int, typer.Option(min=1, max=256, help="Questions that run at once per row.")] = 1,
    where: Where = None,
    limit: FirstQuestions = None,
    sample: RandomQuestions = None,
    seed: Seed = 0,
    corpus_sample: CorpusSample = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Estimate the cost, and ask nothing.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Also write a Markdown page with the table.")
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The file of answers, for resuming. Default: the file of eval, which it shares."
        ),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Delete the stored rows and ask all questions again.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the tables of the papers, or run one and print it with the published numbers beside ours.

    The cost is estimated before, and counted after. Run an interrupted table again to continue it.
    """
    if table is None:
        if dataset:
            raise InvalidInput(
                "--dataset belongs to a table: name one, such as hopweave reproduce level.2 --dataset DIR"
            )
        print_json(_describe_tables()) if as_json else _show_tables()
        return
    chosen = find_table(table)
    if not dataset:
        if estimate or only or corpus is not None or output is not None or rows is not None or fresh:
            raise InvalidInput(
                f"without --dataset, {table} is only described; name a folder with corpus.jsonl and "
                f"questions.jsonl: hopweave reproduce {table} --dataset DIR"
            )
        print_json(_table_to_dict(chosen)) if as_json else _show_table(chosen)
        return
    if corpus is not None and len(dataset) > 1:
        raise InvalidInput("--corpus belongs to one dataset; give one --dataset with it")
    selected = parse_filter_text(where, "--where")
    settings = read_eval_settings(model or [], prompts, extractor or "pattern")
    reproduction = plan_reproduction(
        chosen,
        place_datasets(chosen, dataset),
        Experiment(
            searchers=(),
            corpus=corpus,
            web=web,
            concurrency=concurrency,
            where=parse_filter(selected) if selected is not None else None,
            limit=limit,
            sample=sample,
            seed=seed,
            corpus_sample=corpus_sample,
        ),
        only=only or (),
        extractor=extractor,
        has_reranker=bool(settings.reranker.kind),
    )
    _print_estimate(settings, reproduction)
    if estimate:
        return
    kept = RowsFile(rows or default_rows(settings, reproduction.folders, None), fresh=fresh)
    check_outputs({"-o": output}, [kept.path, *reproduction.folders])
    outcome = _run(settings, reproduction, kept)
    if as_json:
        print_json(outcome.build_report())
    else:
        _show_outcome(outcome)
    if output is not None:
        write_text("-o", output, outcome.build_page())
    check_measured(list(outcome.results))


def _run(settings: Settings, reproduction: Reproduction, kept: RowsFile) -> Outcome:
    results = run_comparison(settings, reproduction.folders, reproduction.experiment, kept)
    for result in results:
        for seen in result.seen:
            print_status(f"warning: {result.dataset}: {seen.warning}")
    return Outcome(reproduction=reproduction, results=results, embedding=settings.embedding.model)


def _describe_tables() -> dict[str, Any]:
    """Returns all tables as JSON."""
    return {"tables": [_table_to_dict(table) for table in list_tables()]}


def _table_to_dict(one: Table) -> dict[str, Any]:
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


def _show_tables() -> None:
    """Prints a line for each table."""
    print_table(
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


def _show_table(one: Table) -> None:
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
    print_table(("row", *headings, *(column.heading for column in one.overall), "strategy"), rows)


def _print_estimate(settings: Settings, reproduction: Reproduction) -> None:
    """Prints what the run costs: the answers of all rows, and what a language model extracts and summarizes."""
    cost = reproduction.estimate_cost()
    asked = f"{counted(cost.questions, 'question')} × {counted(len(reproduction.rows), 'row')}"
    print_status(
        f"estimate: {asked}: about {cost.calls:,.0f} calls and {cost.tokens:,.0f} tokens of a language model; stored "
        "answers cost nothing"
    )
    for what, model in asyncio.run(_estimate_indexing(settings, reproduction)):
        print_status(
            f"estimate: {what}, if it is not indexed yet: {model.calls:,} calls and "
            f"{model.prompt_tokens + model.completion_tokens:,} tokens"
        )


async def _estimate_indexing(settings: Settings, reproduction: Reproduction) -> list[tuple[str, ModelEstimate]]:
    container = Container(settings)
    try:
        found: list[tuple[str, ModelEstimate | None]] = []
        for folder in reproduction.folders:
            name, experiment = folder.resolve().name, reproduction.experiment
            found.append((f"extraction from {name}", await estimate_extraction(container, folder, experiment)))
            source = experiment.corpus or name
            found.append((f"the tree of {source}", await estimate_tree_summaries(container, folder, experiment)))
        return [(name, model) for name, model in found if model is not None]
    finally:
        await container.close()


def _show_outcome(outcome: Outcome) -> None:
    """Prints the table in the paper's shape, what differs from the paper, and what it cost."""
    one = outcome.reproduction.table
    print_result(f"{one.id}: {one.title} ({one.paper.name}, arXiv {one.paper.arxiv})")
    print_table([heading.replace(": ", ":\n") for heading in outcome.headings], outcome.lines)
    print_result(outcome.legend)
    print_result(outcome.difference)
    print_result(outcome.counted)
    if outcome.not_run:
        print_result(f"Not run: {outcome.not_run}")
