"""`hopweave keys …`: the keys of the HTTP server."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import AsJson, FilterText, parse_filter_text
from cli.output.console import fields, print_json, print_result, print_status, table
from cli.runtime import run_with_container
from core.errors import InvalidInput
from core.keys import ApiKey, KeyLimits, Scope, make_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.container import Container


_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
_EVERY = "*"
_MEGABYTE = 1_000_000

_FIRST = (
    "warning: this is the first key: within seconds, every request to the server needs a key, also from this machine, "
    "and questions that were asked without a key are in no list of a key."
)
_NO_ADMIN = "Make another one with --scope admin for whoever runs the server."
_group = typer.Typer(name="keys", help="Make, list and revoke keys of the HTTP server.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    app.add_typer(_group)


@_group.command("create")
def create_key(
    name: Annotated[str, typer.Argument(help="Whose the key is, or what it is for.")],
    scope: Annotated[
        list[Scope] | None,
        typer.Option(
            metavar="read|write|export|admin",
            help="What it may do; repeatable. Default: read. `admin` includes all.",
            show_default=False,
        ),
    ] = None,
    corpus: Annotated[
        list[str] | None,
        typer.Option("--corpus", "-c", help="A corpus that it may see; repeatable. Default: all.", show_default=False),
    ] = None,
    where: FilterText = None,
    principal: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PRINCIPAL",
            help="Who its holder is, `user:NAME` or `group:NAME`; repeatable. It sees the documents that one of them "
            "may see. Default: all.",
            show_default=False,
        ),
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option(help="When it ends: 90d, 12h, 30m, or a time such as 2027-01-31.", show_default=False),
    ] = None,
    requests_per_minute: Annotated[int | None, typer.Option(min=1, help="Requests.", show_default=False)] = None,
    tokens_per_minute: Annotated[
        int | None, typer.Option(min=1, help="Tokens that models read and write for its questions.", show_default=False)
    ] = None,
    ingest_mb_per_minute: Annotated[
        float | None, typer.Option(min=0.001, help="Megabytes of submitted documents.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a key and print it, this once: only its hash is stored. A running server accepts it after some seconds, and
    from then on every request needs a key.
    """
    key, text = make_key(
        name,
        scope or [Scope.READ],
        corpora=None if not corpus or _EVERY in corpus else corpus,
        filter=parse_filter_text(where),
        principals=principal or None,
        limits=KeyLimits(
            requests=requests_per_minute,
            tokens=tokens_per_minute,
            ingest_bytes=None if ingest_mb_per_minute is None else round(ingest_mb_per_minute * _MEGABYTE),
        ),
        expires_at=None if expires is None else _parse_end(expires),
    )

    async def work(container: "Container") -> tuple[list[str], bool]:
        is_first = not await container.record.keys.list() and not container.settings.api.keys
        await container.record.keys.create(key)
        present = {one.name for one in await container.record.corpora.list()}
        return sorted((key.corpora or frozenset()) - present), is_first

    missing, is_first = run_with_container(work, creates=True)
    for one in missing:
        print_status(f"warning: there is no corpus {one!r} yet; the key sees it once there is one of this name")
    if is_first:
        print_status(_FIRST if Scope.ADMIN in key.scopes else f"{_FIRST} {_NO_ADMIN}")
    if as_json:
        print_json({**_describe(key), "key": text})
        return
    print_result(text)
    print_status(f"this is key {key.id} ({key.name}); it is not shown again")


@_group.command("list")
def list_keys(as_json: AsJson = False) -> None:
    """List all keys, the oldest first, without their secrets; also expired and revoked ones."""

    async def work(container: "Container") -> "Sequence[ApiKey]":
        return await container.record.keys.list()

    keys = run_with_container(work)
    if as_json:
        print_json({"data": [_describe(key) for key in keys]})
        return
    shown = [_describe(key) for key in keys]
    columns = ("id", "name", "state", "scopes", "corpora", "filter", "principals", "limits", "expires_at")
    table(columns, ([_cell(key[column]) for column in columns] for key in shown))


@_group.command("revoke")
def revoke_key(
    id: Annotated[str, typer.Argument(metavar="ID", help="The id of a key, as `keys list` shows it.")],
    delete: Annotated[bool, typer.Option("--delete", help="Also delete it from the list.")] = False,
    as_json: AsJson = False,
) -> None:
    """End a key. All servers refuse it within seconds, and end its streams. It stays in the list, and as long as the
    list has a key, every request needs one; `--delete` also deletes it from the list.
    """

    async def work(container: "Container") -> ApiKey:
        keys = container.record.keys
        revoked = await keys.revoke(id)
        return await keys.delete(id) if delete else revoked

    key = run_with_container(work)
    if as_json:
        print_json(_describe(key))
    else:
        fields({name: _cell(value) for name, value in _describe(key).items()})


def _parse_end(text: str) -> datetime:
    now = datetime.now(UTC)
    number, unit = text[:-1], text[-1:]
    try:
        if unit in _UNITS and number.isdecimal():
            end = now + int(number[:9]) * _UNITS[unit]
        else:
            parsed = datetime.fromisoformat(text)
            end = parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(f"--expires {text!r} is no time; write 90d, 12h, 30m or 2027-01-31T12:00+01:00") from error
    if end <= now:
        raise InvalidInput(f"--expires {text!r} is past; give a time to come")
    return end


def _describe(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "state": key.state(datetime.now(UTC)).value,
        "scopes": sorted(key.scopes),
        "corpora": [_EVERY] if key.corpora is None else sorted(key.corpora),
        "filter": key.filter,
        "principals": None if key.principals is None else sorted(key.principals),
        "limits": vars(key.limits),
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
    }


def _cell(value: object) -> object:
    if isinstance(value, list):
        return ", ".join(value)
    if isinstance(value, dict):
        return {name: one for name, one in value.items() if one is not None} or None
    return value
