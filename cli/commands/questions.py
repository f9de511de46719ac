"""`hopweave search` and `hopweave ask`."""

from typing import Annotated, Literal

import typer

from cli.options import (
    AsJson,
    AsOf,
    CorpusNames,
    FilterText,
    MinGeneration,
    Prompts,
    Searcher,
    TopK,
    Web,
    parse_filter_text,
    parse_generations,
)
from cli.output.console import print_json, print_status
from core.ports.reasoning import Unsupported
from core.ports.retrieval import MAX_K

_INTERRUPTED = 130


def register(app: typer.Typer) -> None:
    app.command("search")(search)
    app.command("ask")(ask)


def search(
    query: Annotated[str, typer.Argument(help="The query.")],
    corpus: CorpusNames,
    searcher: Searcher = None,
    k: TopK = 5,
    where: FilterText = None,
    as_of: AsOf = None,
    explain: Annotated[bool, typer.Option("--explain", help="Explain why each passage was found.")] = False,
    features: Annotated[
        bool, typer.Option("--features", help="Show what each feature adds to the score; implies --explain.")
    ] = False,
    context: Annotated[
        int, typer.Option(min=0, max=5, help="Show so many passages before and after each in its document.")
    ] = 0,
    group_by: Annotated[
        Literal["document"] | None,
        typer.Option(metavar="document", help="Show one passage for each document; -k counts documents."),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Print whole passages. Default: the best sentence of each.")
    ] = False,
    web: Web = False,
    min_generation: MinGeneration = None,
    as_json: AsJson = False,
) -> None:
    """Rank the passages of one or several corpora."""
    from cli.flows.questions import run_search
    from cli.output.results import show_search

    asked_for: bool | str = "features" if features else explain
    body = {
        "query": query,
        "searcher": searcher,
        "k": k,
        "filter": parse_filter_text(where),
        "as_of": as_of,
        "explain": asked_for,
        "web": web,
        "context": context,
        "group_by": group_by,
        "min_generation": parse_generations(min_generation),
    }
    page = run_search(corpus, body)
    if as_json:
        print_json(page)
    else:
        show_search(page, full=full or context > 0, names_corpora=len(corpus) > 1)


def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    corpus: CorpusNames,
    reasoner: Annotated[
        str | None, typer.Option(help="NAME[:key=value,…]. Default: the settings'.", show_default=False)
    ] = None,
    searcher: Searcher = None,
    k: Annotated[
        int | None,
        typer.Option(
            "-k",
            min=1,
            max=MAX_K,
            help="The number of passages per retrieval. Default: the reasoner's own.",
            show_default=False,
        ),
    ] = None,
    where: FilterText = None,
    as_of: AsOf = None,
    budget: Annotated[
        str | None,
        typer.Option(
            help="Limits for this question: calls=20,tokens=50000,seconds=60, or some of them.", show_default=False
        ),
    ] = None,
    instructions: Annotated[str, typer.Option(help="Instructions for writing the answer.", show_default=False)] = "",
    web: Web = False,
    unsupported: Annotated[
        Unsupported | None,
        typer.Option(
            help="What to do with an answer that no passage states: give it if it is inferred from passages, abstain, "
            "or also permit the model's memory. Default: the settings'.",
            show_default=False,
        ),
    ] = None,
    min_generation: MinGeneration = None,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Mask each document of the answer in turn and ask again, to say which of them the answer hangs on. "
            "The expected cost is printed first.",
        ),
    ] = False,
    verify_budget: Annotated[
        str | None,
        typer.Option(help="Limits of the verification, in the form of --budget; implies --verify.", show_default=False),
    ] = None,
    prompts: Prompts = None,
    as_json: AsJson = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print the documents that a survey lists, with groups and values, as CSV.")
    ] = False,
    no_stream: Annotated[
        bool, typer.Option("--no-stream", help="Print nothing before the answer is complete.")
    ] = False,
) -> None:
    """Answer a question from one or several corpora, with citations."""
    from cli.flows.questions import Limits, run_question
    from cli.output.answer_table import print_answer_table
    from cli.output.results import show_answer

    if as_json and as_csv:
        raise typer.BadParameter("--json and --csv are two forms of one answer: choose one")
    body = {
        "question": question,
        "reasoner": reasoner,
        "searcher": searcher,
        "k": k,
        "filter": parse_filter_text(where),
        "as_of": as_of,
        "instructions": instructions,
        "web": web,
        "unsupported": unsupported,
        "min_generation": parse_generations(min_generation),
        "verify": verify or verify_budget is not None,
    }
    limits = Limits(answer=budget, verification=verify_budget)
    try:
        answer = run_question(corpus, body, limits=limits, prompts=prompts, shown=not (no_stream or as_json or as_csv))
    except KeyboardInterrupt:
        print_status("hopweave: interrupted; model calls in flight are cancelled")
        raise typer.Exit(_INTERRUPTED) from None
    if as_json:
        print_json(answer)
    elif as_csv:
        print_answer_table(answer)
    else:
        show_answer(answer, names_corpora=len(corpus) > 1)
