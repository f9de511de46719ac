"""`hopweave eval`: compares searchers and reasoners on question sets."""

from pathlib import Path
from typing import Annotated

import typer

from app.container import read_prompts
from cli.flows.evaluation import (
    STDOUT,
    PlansForm,
    PlansFrom,
    PlansMinF1,
    check_measured,
    check_outputs,
    check_reasoners,
    check_thresholds,
    default_rows,
    run_comparison,
    select_plans,
    show_results,
    write_page,
    write_plans,
)
from cli.options import CorpusSample, FirstQuestions, Models, Prompts, RandomQuestions, Seed, Where, parse_filter_text
from core.errors import InvalidInput
from core.filters import parse_filter
from core.ports.reasoning import Unsupported
from core.settings import Settings, read_settings
from evaluation import (
    DEFAULT_SEARCHERS,
    AnswerRow,
    Experiment,
    PlanForm,
    ReferenceFrom,
    RowsFile,
    parse_model_options,
    parse_threshold,
)


def register(app: typer.Typer) -> None:
    """Add the command `eval`."""
    app.command(name="eval")(_eval)


def _eval(
    dataset_dirs: Annotated[
        list[Path], typer.Argument(metavar="DATASET_DIR", help="Folders with corpus.jsonl and questions.jsonl.")
    ],
    corpus: Annotated[str | None, typer.Option(help="An existing corpus, instead of indexing the folder.")] = None,
    questions: Annotated[Path | None, typer.Option(help="Questions to use instead of the folder's.")] = None,
    searcher: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME[:key=value,…]; repeatable. Default: all, unless a reasoner is named.", show_default=False
        ),
    ] = None,
    reasoner: Annotated[list[str] | None, typer.Option(help="NAME[:key=value,…]; repeatable.")] = None,
    over: Annotated[
        str | None,
        typer.Option(metavar="SEARCHER", help="The searcher of reasoners. Default: the settings' or their own."),
    ] = None,
    k: Annotated[
        int | None, typer.Option("-k", min=1, max=1000, help="Passages per search of a reasoner. Default: its own.")
    ] = None,
    web: Annotated[bool, typer.Option("--web", help="Permit web searches, if one is configured.")] = False,
    unsupported: Annotated[
        Unsupported, typer.Option(help="What reasoners do with an answer that no passage states.")
    ] = Unsupported.INFER,
    model: Models = None,
    prompts: Prompts = None,
    judge: Annotated[
        bool, typer.Option("--judge", help="Let a language model judge the answers: relevance, faithfulness, gain.")
    ] = False,
    judge_reference: Annotated[
        ReferenceFrom,
        typer.Option(
            metavar="search|own",
            help="The passages from which --judge has its reference answer written: the best of a search with the "
            "question, or those that the reasoner itself retrieved.",
        ),
    ] = "search",
    concurrency: Annotated[int, typer.Option(min=1, max=256, help="Questions that run at once per reasoner.")] = 1,
    extractor: Annotated[
        str, typer.Option(help="The extractor: pattern, syntax, tables, given, llm, or several, such as pattern+given.")
    ] = "pattern",
    chunker: Annotated[str, typer.Option(help="The chunker.")] = "passage",
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Ask every question in lower case.")] = False,
    unanswerable: Annotated[
        bool, typer.Option("--unanswerable", help="The corpus answers none of the questions: count abstentions.")
    ] = False,
    where: Where = None,
    limit: FirstQuestions = None,
    sample: RandomQuestions = None,
    seed: Seed = 0,
    corpus_sample: CorpusSample = None,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The baseline of the differences. Default: the first of each kind."),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the scores here, rows beside it; - is stdout.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a Markdown page on the reasoners here, as `eval-report` does."),
    ] = None,
    plans: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write questions with their plans here, as JSON lines.")
    ] = None,
    plans_form: PlansForm = PlanForm.ROWS,
    plans_from: PlansFrom = None,
    plans_min_f1: PlansMinF1 = 0.0,
    rows: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The file of rows, for resuming. Default: beside --json, or in the data folder."
        ),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Delete the stored rows and ask all questions again.")] = False,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(metavar="[NAME/]METRIC=VALUE", help="Exit with 1 if a metric is lower: recall@5=.7"),
    ] = None,
) -> None:
    """Measure retrieval and answers on question sets, in a corpus of their own that is kept for the next run.

    Run an interrupted comparison again to continue it.
    """
    selected = parse_filter_text(where, "--where")
    thresholds = [parse_threshold(text) for text in fail_under or ()]
    if questions is not None and len(dataset_dirs) > 1:
        raise InvalidInput("--questions belongs to one dataset; give one folder with it")
    if (report or plans) and not reasoner:
        raise InvalidInput("--report and --plans are about reasoners: name one with --reasoner")
    planned = select_plans(plans, plans_form, plans_from, plans_min_f1)
    check_reasoners(planned, reasoner or ())
    default = () if reasoner else DEFAULT_SEARCHERS
    experiment = Experiment(
        searchers=tuple(searcher or default),
        reasoners=tuple(reasoner or ()),
        chunker=chunker,
        extractor=extractor,
        corpus=corpus,
        questions=questions,
        lowercase=lowercase,
        unanswerable=unanswerable,
        where=parse_filter(selected) if selected is not None else None,
        limit=limit,
        sample=sample,
        seed=seed,
        corpus_sample=corpus_sample,
        baseline=baseline,
        over=over,
        k=k,
        web=web,
        unsupported=unsupported,
        concurrency=concurrency,
        judge=judge,
        judge_reference=judge_reference,
    )
    settings = read_eval_settings(model or [], prompts, extractor)
    kept = RowsFile(rows or default_rows(settings, dataset_dirs, json_file), fresh=fresh)
    outputs = {"--json": None if json_file == STDOUT else json_file, "--report": report, "--plans": plans}
    check_outputs(outputs, [kept.path, *dataset_dirs, *([questions] if questions else [])])
    results = run_comparison(settings, dataset_dirs, experiment, kept)
    answers: dict[str, list[AnswerRow]] = {}
    for result in results:
        answers.setdefault(result.dataset, []).extend(result.answers)
    if report is not None:
        write_page("--report", report, answers)
    if plans is not None:
        write_plans(plans, answers, planned, read_prompts(settings))
    show_results(results, json_file, kept.path)
    check_measured(results)
    check_thresholds(results, thresholds)


def read_eval_settings(models: list[str], prompts: Path | None, extractor: str) -> Settings:
    """Returns the settings with those options; raises `InvalidInput` for a prompt that only a worker would use."""
    overrides = parse_model_options(models)
    if prompts is None:
        return read_settings(**overrides)
    replaced = [name for name in ("openie", "openie_small") if (prompts / f"{name}.md").exists()]
    if replaced and "llm" in (part.partition(":")[0] for part in extractor.split("+")):
        raise InvalidInput(
            f"--prompts {prompts} replaces `{replaced[0]}`, but indexing is done by a worker with settings of its own; "
            "set HOPWEAVE_PROMPTS_DIR in the environment instead"
        )
    return read_settings(**overrides, prompts_dir=prompts)
