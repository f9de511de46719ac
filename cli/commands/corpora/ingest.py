"""`hopweave ingest`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from cli.options import (
    CHUNKER_HELP,
    EMBEDDING_HELP,
    EXTRACTOR_HELP,
    FINE_HELP,
    AsJson,
    CorpusName,
    NoEmbedding,
    NoGraph,
    SchemaFile,
    choose_embedding,
    choose_extractor,
    read_schema_file,
)
from cli.output.console import print_json
from core.corpora import NO_EMBEDDING, Fine
from core.documents import OnConflict
from core.errors import InvalidInput

if TYPE_CHECKING:
    from cli.flows.reading import Request, Server


def register(app: typer.Typer) -> None:
    app.command("ingest")(ingest)


def ingest(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Files, folders, JSON lines, or an exported corpus.")
    ],
    corpus: CorpusName,
    extractor: Annotated[str | None, typer.Option(help=EXTRACTOR_HELP, show_default=False)] = None,
    chunker: Annotated[str | None, typer.Option(help=CHUNKER_HELP, show_default=False)] = None,
    fine: Annotated[Fine | None, typer.Option(help=FINE_HELP, show_default=False)] = None,
    embedding: Annotated[str | None, typer.Option(help=EMBEDDING_HELP, show_default=False)] = None,
    no_embedding: NoEmbedding = False,
    no_graph: NoGraph = False,
    schema: SchemaFile = None,
    embeddings: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A .npy or .parquet file with the embeddings of PATH, a .jsonl, .parquet or .tsv file: one row of "
            "floats for each document, by the model of the corpus, which is then not called.",
            show_default=False,
        ),
    ] = None,
    on_conflict: Annotated[
        OnConflict, typer.Option(help="What to do with an existing key whose content differs.")
    ] = OnConflict.REPLACE,
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Read only these files of folders, such as '*.md'.", show_default=False),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN", help="Leave these files and folders out, such as 'drafts/'.", show_default=False
        ),
    ] = None,
    no_gitignore: Annotated[bool, typer.Option("--no-gitignore", help="Also read what .gitignore files name.")] = False,
    follow_links: Annotated[
        bool, typer.Option("--follow-links", help="Also read what links in folders lead to outside of them.")
    ] = False,
    access: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PRINCIPAL",
            help="Who may see the documents: `user:NAME` or `group:NAME`; repeatable. Default: everyone who may see "
            "the corpus, and of present documents who may see them now.",
            show_default=False,
        ),
    ] = None,
    access_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Rules in TOML: patterns of keys, each with a list of principals, such as "
            '"legal/" = ["group:legal"]; the last pattern that matches counts, and --access is for the others.',
            show_default=False,
        ),
    ] = None,
    prune: Annotated[
        bool,
        typer.Option(
            help="The corpus is to hold what all PATHs hold: delete every other document of it, wherever it came from. "
            "PATH is a folder, or a file of several documents. What --include and --exclude leave out is kept, and so "
            "is a document whose file is rejected. If a folder cannot be read, nothing is deleted."
        ),
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with exit code 1 if a file is rejected or a document fails.")
    ] = False,
    budget_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Pause when language models have used this many tokens.", show_default=False),
    ] = None,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch",
            help="Go on until Ctrl-C, and follow PATH: new, changed and deleted files are ingested and pruned.",
        ),
    ] = False,
    poll: Annotated[
        float | None,
        typer.Option(
            min=0.5,
            metavar="SECONDS",
            help="With --watch, look for changes so often, also where the system does not tell of them, as in network "
            "file systems.",
            show_default=False,
        ),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print a line for each document when it is finished.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option(help="Count documents and passages, estimate the cost of a language model; write nothing.")
    ] = False,
    server: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Upload to this server instead, such as http://127.0.0.1:8000.", show_default=False
        ),
    ] = None,
    api_key: Annotated[
        str | None,
        typer.Option(
            envvar="HOPWEAVE_API_KEY", metavar="KEY", help="A key of the server of --server.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Index documents, and wait until they can be searched. A missing corpus is created. A file of `hopweave export`
    is imported as it is, without calling a model.

    Folders are read with all folders in them, without hidden files. Files that cannot be used are listed at the end;
    the exit code is 1 if no document can be used, or with --strict; --watch ends with 130.
    """
    from cli.flows.archive import find_archive, import_archive
    from cli.flows.ingest import run
    from cli.flows.reading import Request, Server
    from cli.output.summaries import show_summary, summary_to_dict
    from indexer import Selection, read_access_rules

    extractor = choose_extractor(extractor, no_graph=no_graph)
    embedding = choose_embedding(embedding, no_embedding=no_embedding)
    unfit = {
        "--no-embedding": no_embedding,
        "--embedding": embedding is not None and not no_embedding,
        "--embeddings": embeddings is not None,
        "--schema": schema is not None,
        "--on-conflict": on_conflict is not OnConflict.REPLACE,
        "--prune": prune,
        "--include": bool(include),
        "--exclude": bool(exclude),
        "--access": bool(access),
        "--access-file": access_file is not None,
        "--no-gitignore": no_gitignore,
        "--follow-links": follow_links,
        "--dry-run": dry_run,
        "--watch": watch,
        "--budget-tokens": budget_tokens is not None,
    }
    exported = find_archive(paths, unfit)
    if exported is not None:
        requested = {"extractor": extractor, "chunker": chunker, "fine": fine}
        if server is None:
            import_archive(exported, corpus, requested, as_json=as_json)
        else:
            from cli.flows.remote.sending import import_remotely

            import_remotely(exported, corpus, requested, Server(url=server, api_key=api_key), as_json=as_json)
        return
    request = Request(
        paths=tuple(paths),
        corpus=corpus,
        extractor=extractor,
        chunker=chunker,
        fine=fine,
        embedding=embedding,
        embeddings=embeddings,
        on_conflict=on_conflict,
        prune=prune,
        budget_tokens=budget_tokens,
        selection=Selection(
            include=tuple(include or ()),
            exclude=tuple(exclude or ()),
            gitignore=not no_gitignore,
            follow_links=follow_links,
        ),
        access=read_access_rules(access_file, access or None),
        verbose=verbose,
        schema=read_schema_file(schema),
    )
    target = None if server is None else Server(url=server, api_key=api_key)
    _check_together(
        {"--watch": watch, "--poll": poll is not None},
        {
            "--dry-run": dry_run,
            "--embeddings": embeddings is not None,
            "--json": as_json,
            "--strict": strict,
            "--on-conflict error": on_conflict is OnConflict.ERROR,
        },
    )
    if embeddings is not None and (dry_run or embedding == NO_EMBEDDING):
        raise InvalidInput(
            f"--embeddings does not work with {'--dry-run' if dry_run else '--no-embedding'}; leave one out"
        )
    if watch:
        from cli.flows.watching import watch as follow

        follow(request, server=target, poll=poll)
    if dry_run:
        _estimate(request, target, strict=strict, as_json=as_json)
    if target is None:
        summary = run(request)
    else:
        from cli.flows.remote.ingest import run_remote

        summary = run_remote(request, target)
    if as_json:
        print_json(summary_to_dict(summary))
    else:
        show_summary(summary)
    raise typer.Exit(0 if summary.succeeded(strict=strict) else 1)


def _estimate(request: "Request", server: "Server | None", *, strict: bool, as_json: bool) -> NoReturn:
    """Shows what an ingest would cost, here or in a server, and ends the command."""
    from cli.flows.ingest import estimate_ingest
    from cli.flows.remote.sending import estimate_remote
    from cli.output.summaries import estimate_to_dict, show_estimate

    estimate = estimate_ingest(request) if server is None else estimate_remote(request, server)
    if as_json:
        print_json(estimate_to_dict(request.corpus, estimate))
    else:
        show_estimate(estimate)
    raise typer.Exit(1 if estimate.rejected and (strict or not estimate.documents) else 0)


def _check_together(modes: dict[str, bool], options: dict[str, bool]) -> None:
    """Raises `InvalidInput` for options that do not work together, given with whether each is used."""
    if modes["--poll"] and not modes["--watch"]:
        raise InvalidInput("--poll is for --watch; give both or neither")
    unfit = next((option for option, is_used in options.items() if is_used), None)
    if modes["--watch"] and unfit is not None:
        raise InvalidInput(f"{unfit} does not work with --watch; leave one of them out")
