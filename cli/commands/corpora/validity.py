"""`hopweave documents validity` lists what is known of when documents are in force, and sets it; `compare` tells what
changed from one document to another one.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.data.data import get_document, run_with_data
from cli.options import AsJson, CorpusName
from cli.output.console import fields, print_json, print_result
from core.errors import InvalidInput
from core.validity import FIELDS
from core.validity.statements import read_day

if TYPE_CHECKING:
    from cli.data.data import Data
    from core.documents import Document
    from core.jobs import Job


_NONE = "none"


def register(group: typer.Typer) -> None:
    group.command("validity")(_show_validity)
    group.command("compare")(_compare)


def _show_validity(
    corpus: CorpusName,
    name: Annotated[
        str | None, typer.Argument(metavar="[KEY|ID]", help="Set the validity of this document.", show_default=False)
    ] = None,
    valid_from: Annotated[
        str | None,
        typer.Option("--from", metavar="DAY", help="The first day; `none`: there is none.", show_default=False),
    ] = None,
    valid_to: Annotated[
        str | None,
        typer.Option("--to", metavar="DAY", help="The last day; `none`: there is none.", show_default=False),
    ] = None,
    supersedes: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY", help="A document that it supersedes; repeatable; `none`.", show_default=False),
    ] = None,
    superseded_by: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY", help="A document that supersedes it; repeatable; `none`.", show_default=False),
    ] = None,
    authority: Annotated[
        str | None, typer.Option(help="Its authority: a number or a word, such as `board`.", show_default=False)
    ] = None,
    clear: Annotated[
        bool, typer.Option("--clear", help="Delete the fields, so that text and file name count again.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List when documents are in force, and who says so; with KEY, set it. Nothing is embedded for that.

    A field replaces what the text states of the same thing.
    """
    named = {"supersedes": supersedes, "superseded_by": superseded_by}
    given: dict[str, Any] = {field: [] if keys == [_NONE] else keys for field, keys in named.items() if keys}
    days = {"valid_from": valid_from, "valid_to": valid_to}
    given |= {field: _read_option(field, day) for field, day in days.items() if day is not None}
    given |= {} if authority is None else {"authority": authority}
    if clear and given:
        raise InvalidInput("--clear deletes the fields: give no other option with it")
    if name is None and (given or clear):
        raise InvalidInput("name the document whose validity is to be set")
    if name is not None and not (given or clear):
        raise InvalidInput("say what to set: --from, --to, --supersedes, --superseded-by, --authority or --clear")
    if name is None:
        _list(corpus, as_json=as_json)
    else:
        _set(corpus, name, dict.fromkeys((*FIELDS, "authority")) if clear else given, as_json=as_json)


def _read_option(field: str, text: str) -> str:
    """Returns a day, '' for none. Raises `InvalidInput`."""
    if text == _NONE:
        return ""
    if read_day(text) is None:
        raise InvalidInput(f"--{field.partition('_')[2]} is {text!r}; write a day such as 2024-05-01, or `none`")
    return text


def _set(corpus: str, name: str, metadata: Mapping[str, Any], *, as_json: bool) -> None:
    async def work(data: "Data") -> "tuple[Job, Document]":
        document = await get_document(data, corpus, name)
        job = await data.complete(await data.change_document(corpus, document, {"metadata": metadata}))
        return job, await get_document(data, corpus, document.key)

    job, document = run_with_data(work)
    if as_json:
        print_json({"job": job, "document": document})
    else:
        known = {field: document.metadata[field] for field in (*FIELDS, "authority") if field in document.metadata}
        fields({"key": document.key, **known})
    if job.counts.get("failed"):
        raise typer.Exit(1)


def _list(corpus: str, *, as_json: bool) -> None:
    rows = run_with_data(lambda data: data.list_validity(corpus))
    if as_json:
        print_json({"data": rows})
        return
    for row in rows:
        validity = row["validity"]
        days = f"{validity['valid_from'] or '…'} to {validity['valid_to'] or '…'}"
        authority = f", authority {validity['authority']}" if validity["authority"] else ""
        print_result(f"{row['key']}: {days}{authority}")
        for statement in validity["statements"]:
            source = {"field": "a field", "file_name": "the file's name"}.get(statement["source"], "")
            said = source or f"“{' '.join(statement['text'].split())}”"
            part = f"{statement['part']}: " if statement["part"] else ""
            print_result(f"    {part}{statement['states']} {statement['value']}: {said}")
        for relation in validity["relations"]:
            problem = f" (a claim that is not followed: {relation['problem']})" if relation["problem"] else ""
            since = f" since {relation['since']}" if relation["since"] else ""
            print_result(f"    {relation['kind']} {relation['key']}{since}{problem}")
        for unknown in validity["unresolved"]:
            print_result(f"    “{unknown}” names no document here, or several")
    if not rows:
        print_result("no document states anything on its validity")


def _compare(
    corpus: CorpusName,
    old: Annotated[str, typer.Argument(metavar="OLD", help="The key or the id of the older document.")],
    new: Annotated[
        str | None,
        typer.Argument(
            metavar="[NEW]",
            help="The key or the id of the newer document; without it, OLD and the document that OLD supersedes.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what changed from one document to another one, clause by clause."""

    async def work(data: "Data") -> dict[str, Any]:
        newer = await get_document(data, corpus, new or old)
        return await data.compare_documents(corpus, await get_document(data, corpus, old) if new else None, newer)

    found = run_with_data(work)
    if as_json:
        print_json(found)
        return
    for clause in found["clauses"]:
        print_result(f"{clause['kind']}: {clause['clause'] or 'the beginning'}")
        if clause["kind"] == "changed":
            sides = [(sign, words[side]) for words in clause["words"] for sign, side in (("-", "old"), ("+", "new"))]
            lines = [f"    {sign} {text}" for sign, text in sides if text]
        else:
            sign, text = ("-", clause["old"]) if clause["new"] is None else ("+", clause["new"])
            lines = [f"    {sign} {line}" for line in text.split("\n") if line.strip()]
        print_result("\n".join(lines))
    same = found["unchanged"]
    if new is None:
        print_result(f"compared with {found['old_key']}, which {found['new_key']} supersedes")
    print_result("1 clause is the same" if same == 1 else f"{same:,} clauses are the same")
    if found["cut"]:
        print_result(
            "a text is too long: what follows 2,000 clauses was compared as one, and nothing beyond 500,000 characters"
        )
