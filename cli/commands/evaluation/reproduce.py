"""`hopweave reproduce`: lists the tables of the papers, and runs one of them on question sets."""

from pathlib import Path
from typing import Annotated

import typer

from cli.commands.evaluation.eval import read_eval_settings
from cli.flows.evaluation import default_rows, run_comparison
from cli.flows.evaluation_files import check_writable
from cli.flows.reproduction import (
    describe_tables,
    print_estimate,
    show_outcome,
    show_table,
    show_tables,
    table_to_dict,
)
from cli.options import AsJson, Prompts, Web, Where, parse_filter_text
from cli.output.console import print_json, print_status
from core.errors import InvalidInput
from core.filters import parse_filter
from core.settings import Settings
from evaluation import Experiment, Outcome, Reproduction, RowsFile, find_table, place_datasets, plan_reproduction

__all__ = ["register"]


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
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="[ROLE=]NAME", help="The language model of a role, or of all roles; repeatable."),
    ] = None,
    prompts: Prompts = None,
    concurrency: Annotated[int, typer.Option(min=1, max=256, help="Questions that run at once per row.")] = 1,
    where: Where = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Use only the first N questions.")] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="Use only N random questions of each dataset.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of --sample and --corpus-sample.")] = 0,
    corpus_sample: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="M",
            help="Index only the passages that support the questions, and M others, drawn at random. Default: all.",
            show_default=False,
        ),
    ] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Estimate the cost, and ask nothing.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Also write a Markdown page with the table.")
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The file of answers, for resuming. Default: that of eval, which it shares."),
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
        print_json(describe_tables()) if as_json else show_tables()
        return
    chosen = find_table(table)
    if not dataset:
        print_json(table_to_dict(chosen)) if as_json else show_table(chosen)
        return
    if corpus is not None and len(dataset) > 1:
        raise InvalidInput("--corpus belongs to one dataset; give one --dataset with it")
    check_writable("-o", output)
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
    print_estimate(settings, reproduction)
    if estimate:
        return
    outcome = _run(settings, reproduction, rows, fresh=fresh)
    if output is not None:
        output.write_text(outcome.build_page(), encoding="utf-8")
    if as_json:
        print_json(outcome.build_report())
    else:
        show_outcome(outcome)


def _run(settings: Settings, reproduction: Reproduction, rows: Path | None, *, fresh: bool) -> Outcome:
    folders = reproduction.folders
    kept = RowsFile(rows or default_rows(settings, folders, None), fresh=fresh)
    results = run_comparison(settings, folders, reproduction.experiment, kept)
    for result in results:
        for seen in result.seen:
            print_status(f"warning: {result.dataset}: {seen.warning}")
    return Outcome(reproduction=reproduction, results=results, embedding=settings.embedding.model)
