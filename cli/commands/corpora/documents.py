"""`hopweave documents …`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.commands.corpora import document_contents
from cli.data.data import get_document, run_with_data
from cli.options import AsJson, CorpusName, FilterText, parse_filter_text
from cli.output.console import fields, print_json, print_result, print_status, table
from cli.runtime import run_with_container
from core.documents import RevisionState
from core.errors import InvalidFilter, InvalidInput, NotFound
from core.filters import has_empty_part
from core.record_policy.errors import no_document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.container import Container
    from cli.data.data import Data
    from core.jobs import Job

__all__ = ["register"]

_group = typer.Typer(
    name="documents", help="List, show, change, disable, delete and retry documents.", no_args_is_help=True
)
_Names = Annotated[list[str], typer.Argument(metavar="KEY|ID...", help="Keys or ids of documents.")]
_Named = Annotated[str, typer.Argument(metavar="KEY|ID", help="The document's key, or its id.")]


def register(app: typer.Typer) -> None:
    document_contents.register(_group)
    app.add_typer(_group)


@_group.command("list")
def list_documents(
    corpus: CorpusName,
    state: Annotated[
        RevisionState | None, typer.Option(help="Only documents in this state.", show_default=False)
    ] = None,
    key: Annotated[str | None, typer.Option(help="Only the document with this key.", show_default=False)] = None,
    enabled: Annotated[
        bool | None,
        typer.Option(
            "--enabled/--disabled", help="Only documents that are enabled, or that are not.", show_default=False
        ),
    ] = None,
    where: FilterText = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="The largest number of documents.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="`next_cursor` of the last page.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """List the documents of a corpus, by key."""
    parse_filter_text(where)  # is told here, whoever answers
    selected: dict[str, Any] = {"key": key, "state": state, "enabled": enabled, "where": where}
    found, next_cursor = run_with_data(lambda data: data.list_documents(corpus, **selected, limit=limit, cursor=cursor))
    if as_json:
        print_json({"data": found, "next_cursor": next_cursor})
        return
    rows = ((d.key, d.title, d.state if d.enabled else f"{d.state}, disabled", d.chunks, d.reason) for d in found)
    table(("key", "title", "state", "passages", "reason"), rows)
    if next_cursor is not None:
        print_result(f"there are more: --cursor {next_cursor}")


@_group.command("show")
def show_document(name: _Named, corpus: CorpusName, as_json: AsJson = False) -> None:
    """Show one document."""
    document = run_with_data(lambda data: get_document(data, corpus, name))
    if as_json:
        print_json(document)
    else:
        fields(vars(document))


@_group.command("delete")
def delete_documents(
    corpus: CorpusName,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KEY|ID...]", help="Keys or ids of documents.", show_default=False),
    ] = None,
    where: FilterText = None,
    as_json: AsJson = False,
) -> None:
    """Delete documents, by name or by a filter, and wait until all their data is deleted.

    Names that no document has are listed, and the others are deleted; the exit code is then 1.
    """
    only = parse_filter_text(where)
    if bool(names) == (only is not None):
        raise InvalidInput("give either KEY|ID... or --filter")
    if only is not None and has_empty_part(only):
        raise InvalidFilter(
            "--filter is empty, or a part of it is, so that it matches every document; delete the corpus instead"
        )
    missing: list[str] = []

    async def work(data: "Data") -> "Job":
        if only is not None:
            return await data.complete(await data.delete_matching(corpus, only))
        found = {name: await data.find_document(corpus, name) for name in names or ()}
        there = {one.id: one for one in found.values() if one is not None}
        missing[:] = [name for name, one in found.items() if one is None]
        begun = await data.delete_documents(corpus, list(there.values())) if there else None
        for name in missing:
            print_status(str(no_document(corpus, name)))
        if begun is None:
            raise NotFound("nothing was deleted; `hopweave documents list` shows the documents that there are")
        return await data.complete(begun)

    _report(run_with_data(work), as_json=as_json, missing=missing)


@_group.command("disable")
def disable_documents(names: _Names, corpus: CorpusName, as_json: AsJson = False) -> None:
    """Hide documents from every search, at once. Nothing of them is deleted."""
    _switch(names, corpus, enabled=False, as_json=as_json)


@_group.command("enable")
def enable_documents(names: _Names, corpus: CorpusName, as_json: AsJson = False) -> None:
    """Show disabled documents again. Nothing is embedded for that."""
    _switch(names, corpus, enabled=True, as_json=as_json)


def _switch(names: list[str], corpus: str, *, enabled: bool, as_json: bool) -> None:
    async def work(data: "Data") -> int:
        found = {(one := await get_document(data, corpus, name)).id: one for name in names}
        return await data.switch_documents(corpus, list(found.values()), enabled=enabled)

    changed = run_with_data(work)
    if as_json:
        print_json({"changed": changed})
    else:
        print_result(f"{changed} {'enabled' if enabled else 'disabled'}")


@_group.command("retry")
def retry_document(name: _Named, corpus: CorpusName, as_json: AsJson = False) -> None:
    """Index a failed or cancelled document again."""
    from app.services.documents import find_document, retry
    from cli.flows.jobs import complete_job

    async def work(container: "Container") -> "Job":
        found = await container.record.corpora.get(corpus)
        document = await find_document(container, found, name)
        return await complete_job(container, await retry(container, found, document.id))

    _report(run_with_container(work), as_json=as_json)


def _report(job: "Job", *, as_json: bool, missing: "Sequence[str] | None" = None) -> None:
    if as_json:
        print_json({"job": job} if missing is None else {"job": job, "missing": missing})
    else:
        fields({"job": job.id, "state": job.state, "counts": job.counts})
        for key, reason in job.failures:
            print_result(f"{key}: {reason}")
    if missing or job.counts.get("failed"):
        raise typer.Exit(1)
