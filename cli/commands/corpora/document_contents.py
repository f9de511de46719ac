"""`hopweave documents change`, `content` and `pages`."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from cli.data.data import get_document, run_with_data
from cli.options import AsJson, CorpusName
from cli.output.console import fields, plain, print_json, print_result, print_status
from cli.output.files import replace_file
from core.documents import check_title
from core.errors import InvalidInput
from core.passage_context import find_page_label, name_page
from core.text.characters import NO_CHARACTER, find_half

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cli.data.data import Data
    from core.documents import Document
    from core.jobs import Job

__all__ = ["register"]

_Named = Annotated[str, typer.Argument(metavar="KEY|ID", help="The document's key, or its id.")]


def register(group: typer.Typer) -> None:
    group.command("change")(change_document)
    group.command("content")(write_content)
    group.command("pages")(show_pages)


def change_document(
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


def write_content(
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


def show_pages(
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
