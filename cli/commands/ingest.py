"""`hopweave ingest`."""

from pathlib import Path
from typing import Annotated

import typer

from cli.options import FINE_HELP, AsJson, CorpusName
from cli.output.console import emit
from core.corpora import Fine
from core.documents import OnConflict

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    app.command("ingest")(ingest)


def ingest(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Files, folders, JSON lines, or an exported corpus.")
    ],
    corpus: CorpusName,
    extractor: Annotated[
        str | None, typer.Option(help="Such as pattern, given, llm, pattern+llm.", show_default=False)
    ] = None,
    chunker: Annotated[str | None, typer.Option(help="Such as sentences, passage.", show_default=False)] = None,
    fine: Annotated[Fine | None, typer.Option(help=FINE_HELP, show_default=False)] = None,
    on_conflict: Annotated[
        OnConflict, typer.Option(help="What happens to a key that is there with other content.")
    ] = OnConflict.REPLACE,
    prune: Annotated[
        bool, typer.Option(help="Delete what PATH no longer holds: the corpus then is what PATH is.")
    ] = False,
    budget_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Pause once language models have used up so many tokens.", show_default=False),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option(help="Count documents and passages, and what a language model would cost; write nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Index documents, and wait until they can be searched. A missing corpus is created. A file of `hopweave export`
    brings its corpus as it was, without asking a model.
    """
    from cli.importing import exported_file, take_in
    from cli.ingesting import Request, dry, run
    from cli.output.summaries import dry_object, show_dry, show_summary, summary_object

    unfit = {
        "--on-conflict": on_conflict is not OnConflict.REPLACE,
        "--prune": prune,
        "--dry-run": dry_run,
        "--budget-tokens": budget_tokens is not None,
    }
    exported = exported_file(paths, unfit)
    if exported is not None:
        take_in(exported, corpus, {"extractor": extractor, "chunker": chunker, "fine": fine}, as_json=as_json)
        return
    request = Request(
        paths=tuple(paths),
        corpus=corpus,
        extractor=extractor,
        chunker=chunker,
        fine=fine,
        on_conflict=on_conflict,
        prune=prune,
        budget_tokens=budget_tokens,
    )
    if dry_run:
        estimate = dry(request)
        if as_json:
            emit(dry_object(corpus, estimate))
        else:
            show_dry(estimate)
        raise typer.Exit(1 if estimate.rejected else 0)
    summary = run(request)
    if as_json:
        emit(summary_object(summary))
    else:
        show_summary(summary)
    raise typer.Exit(0 if summary.succeeded else 1)
