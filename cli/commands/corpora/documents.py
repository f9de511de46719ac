"""`hopweave documents …`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cursors import decode_cursor, encode_cursor
from cli.commands.corpora import document_contents
from cli.options import AsJson, CorpusName, FilterText, parse_filter_text
from cli.output.console import fields, print_json, print_result, print_status, table
from cli.runtime import run_with_container
from core.documents import RevisionState
from core.errors import InvalidFilter, InvalidInput, NotFound
from core.filters import has_empty_part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.container import Container
    from core.corpora import Corpus
    from core.documents import Document
    from core.jobs import Job
    from core.ports.record import DocumentPage

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
    from app.services.documents import list_matching
    from core.filters import parse_filter

    selected: dict[str, Any] = {"key": key, "state": state, "enabled": enabled, "limit": limit}
    only = parse_filter_text(where)

    async def work(container: "Container") -> "tuple[DocumentPage, str | None]":
        found = await container.record.corpora.get(corpus)
        scope = ("documents", found.id, key, state, where, None if enabled is None else str(enabled))
        after = decode_cursor(cursor, *scope)
        if only is None:
            page = await container.record.documents.list(found.id, cursor=after, **selected)
        else:
            page = await list_matching(container, found, parse_filter(only), cursor=after, **selected)
        return page, encode_cursor(page.next_cursor, *scope)

    page, next_cursor = run_with_container(work)
    if as_json:
        print_json({"data": page.data, "next_cursor": next_cursor})
        return
    rows = ((d.key, d.title, d.state if d.enabled else f"{d.state}, disabled", d.chunks, d.reason) for d in page.data)
    table(("key", "title", "state", "passages", "reason"), rows)
    if next_cursor is not None:
        print_result(f"there are more: --cursor {next_cursor}")


@_group.command("show")
def show_document(name: _Named, corpus: CorpusName, as_json: AsJson = False) -> None:
    """Show one document."""
    from app.services.documents import find_document

    async def work(container: "Container") -> "Document":
        return await find_document(container, await container.record.corpora.get(corpus), name)

    document = run_with_container(work)
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
    from app.services.documents import delete_matching
    from app.services.ingestion import delete_documents as delete
    from cli.flows.jobs import complete_job
    from core.filters import parse_filter

    only = parse_filter_text(where)
    if bool(names) == (only is not None):
        raise InvalidInput("give either KEY|ID... or --filter")
    if only is not None and has_empty_part(only):
        raise InvalidFilter(
            "--filter is empty, or a part of it is, so that it matches every document; delete the corpus instead"
        )
    missing: list[str] = []

    async def work(container: "Container") -> "Job":
        found = await container.record.corpora.get(corpus)
        if only is not None:
            return await complete_job(container, await delete_matching(container, found, parse_filter(only)))
        ids = await _find_ids(container, found, names or [], missing)
        return await complete_job(container, await delete(container, found, ids))

    _report(run_with_container(work), as_json=as_json, missing=missing)


async def _find_ids(container: "Container", corpus: "Corpus", names: list[str], missing: list[str]) -> list[str]:
    """Returns the ids of the documents with these names. Adds the others to `missing`. Raises `NotFound` for none."""
    from app.services.documents import find_document

    ids: dict[str, None] = {}
    for name in names:
        try:
            ids[(await find_document(container, corpus, name)).id] = None
        except NotFound as error:
            missing.append(name)
            print_status(str(error))
    if not ids:
        raise NotFound("nothing was deleted; `hopweave documents list` shows the documents that there are")
    return list(ids)


@_group.command("disable")
def disable_documents(names: _Names, corpus: CorpusName, as_json: AsJson = False) -> None:
    """Hide documents from every search, at once. Nothing of them is deleted."""
    _switch(names, corpus, enabled=False, as_json=as_json)


@_group.command("enable")
def enable_documents(names: _Names, corpus: CorpusName, as_json: AsJson = False) -> None:
    """Show disabled documents again. Nothing is embedded for that."""
    _switch(names, corpus, enabled=True, as_json=as_json)


def _switch(names: list[str], corpus: str, *, enabled: bool, as_json: bool) -> None:
    from app.services.documents import find_document

    async def work(container: "Container") -> "frozenset[str]":
        found = await container.record.corpora.get(corpus)
        ids = {(await find_document(container, found, name)).id: None for name in names}
        return await container.record.submissions.set_enabled(found.id, list(ids), enabled=enabled)

    changed = len(run_with_container(work))
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
