"""`hopweave documents …`."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from cli.commands.corpora import validity
from cli.data.data import get_document, run_with_data
from cli.options import AsJson, CorpusName, FilterText, parse_filter_text
from cli.output.console import counted, fields, plain, print_json, print_result, print_status, replace_file, table
from cli.runtime import run_with_container
from core.documents import RevisionState, check_title
from core.errors import InvalidFilter, InvalidInput, NotFound
from core.filters import has_empty_part
from core.passage_context import find_page_label, name_page
from core.principals import check_principals
from core.record_policy.errors import no_document
from core.text.characters import NO_CHARACTER, find_half

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.container import Container
    from app.services.sweep import Sought
    from cli.data.data import Data
    from core.documents import Document
    from core.jobs import Job


_group = typer.Typer(
    name="documents", help="List, show, change, disable, delete and retry documents.", no_args_is_help=True
)
_Names = Annotated[list[str], typer.Argument(metavar="KEY|ID...", help="Keys or ids of documents.")]
_Named = Annotated[str, typer.Argument(metavar="KEY|ID", help="The document's key, or its id.")]


def register(app: typer.Typer) -> None:
    validity.register(_group)
    app.add_typer(_group)


@_group.command("list")
def _list_documents(
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
def _show_document(name: _Named, corpus: CorpusName, as_json: AsJson = False) -> None:
    """Show one document."""
    document = run_with_data(lambda data: get_document(data, corpus, name))
    if as_json:
        print_json(document)
    else:
        fields(vars(document))


@_group.command("delete")
def _delete_documents(
    corpus: CorpusName,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KEY|ID...]", help="Keys or ids of documents.", show_default=False),
    ] = None,
    where: FilterText = None,
    sweep: Annotated[
        bool, typer.Option("--sweep", help="Then look for their text everywhere, and certify it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Delete documents, by name or by a filter, and wait until all their data is deleted.

    Names that no document has are listed, and the others are deleted; the exit code is then 1, as it is if a sweep
    finds their text.
    """
    only = parse_filter_text(where)
    if bool(names) == (only is not None):
        raise InvalidInput("give either KEY|ID... or --filter")
    if only is not None and has_empty_part(only):
        raise InvalidFilter(
            "--filter is empty, or a part of it is, so that it matches every document; delete the corpus instead"
        )
    if sweep and not names:
        raise InvalidInput("--sweep looks for documents that are named, not for those of a --filter")
    missing: list[str] = []
    sought = _take_text(corpus, names or ()) if sweep else None

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

    job = run_with_data(work)
    has_found = sought is not None and _sweep(corpus, sought, as_json=as_json)
    _report(job, as_json=as_json, missing=missing)
    if has_found:
        raise typer.Exit(1)


def _take_text(corpus: str, names: "Sequence[str]") -> "Sought":
    async def work(container: "Container") -> "Sought":
        from app.services.documents import find_document
        from app.services.sweep import take_text

        found = await container.record.corpora.get(corpus)
        return await take_text(container, found, [await find_document(container, found, name) for name in names])

    return run_with_container(work)


def _sweep(corpus: str, sought: "Sought", *, as_json: bool) -> bool:
    """Returns whether the text was found. With `as_json`, the certificate is told by `hopweave certificates list`."""

    async def work(container: "Container") -> str:
        from app.services.sweep import sweep

        return (await sweep(container, await container.record.corpora.get(corpus), sought)).line

    certificate = json.loads(run_with_container(work))["certificate"]
    found = {kind: count for kind, count in certificate["found"].items() if count}
    if not as_json:
        checked = certificate["checked"]
        print_status(
            f"swept {checked['texts']:,} texts and {checked['files']:,} files for {checked['runs']:,} runs of words: "
            f"{found or 'nothing found'} (certificate {certificate['number']})"
        )
    return bool(found)


@_group.command("disable")
def _disable_documents(names: _Names, corpus: CorpusName, as_json: AsJson = False) -> None:
    """Hide documents from every search, at once. Nothing of them is deleted."""
    _switch(names, corpus, enabled=False, as_json=as_json)


@_group.command("enable")
def _enable_documents(names: _Names, corpus: CorpusName, as_json: AsJson = False) -> None:
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


@_group.command("access")
def _set_access(
    corpus: CorpusName,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KEY|ID...]", help="Keys or ids of documents.", show_default=False),
    ] = None,
    where: FilterText = None,
    to: Annotated[
        list[str] | None,
        typer.Option(
            "--to",
            metavar="PRINCIPAL",
            help="Who may see them: `user:NAME` or `group:NAME`; repeatable.",
            show_default=False,
        ),
    ] = None,
    everyone: Annotated[bool, typer.Option("--everyone", help="Everyone who may see the corpus.")] = False,
    nobody: Annotated[bool, typer.Option("--nobody", help="Nobody but keys without principals.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say who may see documents, by name or by a filter, at once; the attachments of a mail go with it. Nothing is
    embedded for that.
    """
    only = parse_filter_text(where)
    if bool(names) == (only is not None):
        raise InvalidInput("give either KEY|ID... or --filter")
    if only is not None and has_empty_part(only):
        raise InvalidFilter("--filter is empty, or a part of it is, so that it matches every document; give conditions")
    if [bool(to), everyone, nobody].count(True) != 1:
        raise InvalidInput("give either --to, --everyone or --nobody")
    access = None if everyone else check_principals(to or [], "--to")

    async def work(data: "Data") -> int:
        found = {(one := await get_document(data, corpus, name)).id: one for name in names or ()}
        return await data.set_access(corpus, list(found.values()), only, access)

    changed = run_with_data(work)
    if as_json:
        print_json({"documents": changed})
    else:
        print_result(
            f"{counted(changed, 'document')}: {'everyone' if access is None else ', '.join(access) or 'nobody'}"
        )


@_group.command("retry")
def _retry_document(name: _Named, corpus: CorpusName, as_json: AsJson = False) -> None:
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


@_group.command("change")
def _change_document(
    name: _Named,
    corpus: CorpusName,
    title: Annotated[str | None, typer.Option(help="The new title.", show_default=False)] = None,
    no_title: Annotated[bool, typer.Option("--no-title", help="Bring back the title of the document's text.")] = False,
    metadata: Annotated[
        str | None,
        typer.Option(
            metavar="JSON",
            help='Fields to change, such as \'{"year": 1843, "draft": null}\'; null deletes a field, others stay.',
            show_default=False,
        ),
    ] = None,
    enabled: Annotated[
        bool | None,
        typer.Option("--enabled/--disabled", help="Show the document to searches, or hide it.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change the title or the metadata of an indexed document, or whether searches see it, and wait for that.

    New metadata cost no embedding; a new title does, as it is embedded with the passages.
    """
    if title is not None and no_title:
        raise InvalidInput("--title and --no-title exclude each other; leave one of them out")
    given: dict[str, Any] = {} if metadata is None else {"metadata": _parse_metadata(metadata)}
    if title is not None or no_title:
        check_title(title, "the new")
        given["title"] = title
    if not given and enabled is None:
        raise InvalidInput("there is nothing to change: give --title, --no-title, --metadata, --enabled or --disabled")
    change = given | ({} if enabled is None else {"enabled": enabled})

    async def work(data: "Data") -> "tuple[Job, Document]":
        document = await get_document(data, corpus, name)
        job = await data.complete(await data.change_document(corpus, document, change))
        return job, await get_document(data, corpus, document.key)

    job, document = run_with_data(work)
    if as_json:
        print_json({"job": job, "document": document})
    else:
        shown = ("key", "title", "metadata", "enabled", "state", "reason")
        fields({field: getattr(document, field) for field in shown})
    if job.counts.get("failed"):
        raise typer.Exit(1)


def _parse_metadata(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"--metadata is not valid JSON: {error.msg} at character {error.pos}") from error
    if not isinstance(value, dict):
        raise InvalidInput('--metadata is a JSON object of fields, such as {"year": 1843, "draft": null}')
    if place := find_half(value, "metadata"):
        raise InvalidInput(f"--metadata: `{place}` {NO_CHARACTER}")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidInput(f"--metadata is not valid JSON: {name} is no number of JSON")


@_group.command("content")
def _write_content(
    name: _Named,
    corpus: CorpusName,
    output: Annotated[Path | None, typer.Option("-o", help="A file. Default: stdout.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """Write the original of a document: the bytes that were ingested."""
    if as_json and output is None:
        raise InvalidInput("--json describes the written file: name it with -o")

    async def work(data: "Data") -> "tuple[Document, bytes]":
        document = await get_document(data, corpus, name)
        return document, await data.read_content(corpus, document)

    document, content = run_with_data(work)
    if output is None:
        _print_content(document, content)
        return
    written = replace_file(output, lambda file: file.write(content))
    if as_json:
        print_json({"file": str(output), "media_type": document.media_type, "bytes": written})
    else:
        print_status(f"{output}: {written:,} bytes")


def _print_content(document: "Document", content: bytes) -> None:
    """Writes the bytes to stdout; to a terminal only text, without characters that control it."""
    if not sys.stdout.isatty():
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"the original of {document.key!r} is {document.media_type} and no UTF-8 text, which a terminal cannot "
            "show; write it to a file with -o FILE"
        ) from error
    sys.stdout.write(plain(text))


def _parse_page(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise typer.BadParameter(
            f"{text!r} is not the number of a page, from 1; documents and corpora are named as in `hopweave documents "
            "pages KEY --corpus NAME`, with no number for all pages"
        )
    return int(text)


@_group.command("pages")
def _show_pages(
    name: _Named,
    corpus: CorpusName,
    page: Annotated[
        int | None,
        typer.Argument(metavar="[PAGE]", parser=_parse_page, help="Only this page. Default: all.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the text of a document as its loader reads it; spans of passages count the characters of a page. A document
    without pages has page 1.
    """

    async def work(data: "Data") -> "tuple[Document, Mapping[int, str]]":
        document = await get_document(data, corpus, name)
        return document, await data.read_pages(corpus, document, only=page)

    document, pages = run_with_data(work)
    if as_json:
        listed = [{"document_id": document.id, "page": number, "text": text} for number, text in pages.items()]
        print_json({"data": listed})
        return
    for number, text in pages.items():
        if len(pages) > 1:
            print_result(f"--- page {name_page(number, find_page_label(document.metadata, number))} ---")
        print_result(text)
