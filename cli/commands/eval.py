"""`hopweave eval`: searchers and reasoners side by side on question sets."""

from pathlib import Path
from typing import Annotated

import typer

from cli.comparing import STDOUT, check_writable, compared, default_rows, judge_limits, show_results
from core.errors import InvalidInput
from core.settings import read_settings
from evaluation import DEFAULT_SEARCHERS, Experiment, RowsFile, chosen_models, parse_threshold

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command `eval`."""
    app.command(name="eval")(_eval)


def _eval(
    dataset_dirs: Annotated[
        list[Path], typer.Argument(metavar="DATASET_DIR", help="Folders with corpus.jsonl and questions.jsonl.")
    ],
    corpus: Annotated[str | None, typer.Option(help="A corpus that is there, instead of indexing the folder.")] = None,
    questions: Annotated[Path | None, typer.Option(help="Questions in place of the folder's own.")] = None,
    searcher: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME[:key=value,…]; repeat it to compare. All, where no reasoner is named.", show_default=False
        ),
    ] = None,
    reasoner: Annotated[list[str] | None, typer.Option(help="NAME[:key=value,…]; repeat it to compare.")] = None,
    over: Annotated[
        str | None,
        typer.Option(metavar="SEARCHER", help="What reasoners search with; unset, the settings' or their own."),
    ] = None,
    k: Annotated[
        int | None, typer.Option("-k", min=1, max=1000, help="Passages a search of a reasoner; unset, its own number.")
    ] = None,
    web: Annotated[bool, typer.Option("--web", help="Reasoners may search the web, where it is configured.")] = False,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="[ROLE=]NAME", help="The language model of a role, or of all; repeatable."),
    ] = None,
    judge: Annotated[
        bool, typer.Option("--judge", help="Have a language model judge the answers: relevance, faithfulness, gain.")
    ] = False,
    concurrency: Annotated[int, typer.Option(min=1, max=256, help="Questions that a reasoner is asked at once.")] = 1,
    extractor: Annotated[
        str, typer.Option(help="What finds entities: pattern, given, llm, or joined, as in pattern+given.")
    ] = "pattern",
    chunker: Annotated[str, typer.Option(help="How documents are cut.")] = "passage",
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Ask every question in lower case.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N questions.")] = None,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="What the others' differences are to; the first of each kind otherwise."),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the scores here, rows beside it; - is stdout.")
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where rows are kept and taken up again; unset, beside --json or in the data."
        ),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget the rows that are kept, and ask all again.")] = False,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(metavar="[NAME/]METRIC=VALUE", help="Exit with 1 if a metric is lower: recall@5=.7"),
    ] = None,
) -> None:
    """Measure retrieval and answers on question sets, in a corpus of their own that is kept for the next time.

    A comparison that was interrupted goes on where it ended when it is started again.
    """
    thresholds = [parse_threshold(text) for text in fail_under or ()]
    if questions is not None and len(dataset_dirs) > 1:
        raise InvalidInput("--questions belongs to one dataset; give one folder with it")
    if json_file is not None and json_file != STDOUT:
        check_writable(json_file)
    default = () if reasoner else DEFAULT_SEARCHERS
    experiment = Experiment(
        searchers=tuple(searcher or default),
        reasoners=tuple(reasoner or ()),
        chunker=chunker,
        extractor=extractor,
        corpus=corpus,
        questions=questions,
        lowercase=lowercase,
        limit=limit,
        baseline=baseline,
        over=over,
        k=k,
        web=web,
        concurrency=concurrency,
        judge=judge,
    )
    settings = read_settings(**chosen_models(model or ()))
    kept = RowsFile(rows or default_rows(settings, dataset_dirs, json_file), fresh=fresh)
    results = compared(settings, dataset_dirs, experiment, kept)
    show_results(results, json_file, kept.path)
    judge_limits(results, thresholds)
