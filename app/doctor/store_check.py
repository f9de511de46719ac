"""The servers, or the data folder: what answers, in which version, with which schema."""

import os
from collections.abc import AsyncIterator

from app.container import Container
from app.doctor.findings import Finding, Level
from app.doctor.migration import Schema, SchemaState, examine
from app.doctor.readiness import store_checks
from app.worker.folder_lock import holder, is_held
from core.errors import HopweaveError
from core.settings import Settings

__all__ = ["examine_folder", "examine_schema", "examine_stores"]

_TESTED_NEO4J = "Neo4j/5.26."
_BROKER = "broker"
_REMEDIES = {_BROKER: "uploads are accepted meanwhile, and workers look for work by themselves"}


def examine_folder(settings: Settings) -> list[Finding]:
    """The data folder and who works on it; made for reading before any store is opened."""
    folder = settings.data_dir
    place = folder if folder.exists() else _nearest(settings)
    if not os.access(place, os.W_OK | os.X_OK):
        remedy = "make it writable, or set HOPWEAVE_DATA_DIR to another folder"
        return [Finding(subject="data folder", level=Level.PROBLEM, detail=f"{place} is not writable", remedy=remedy)]
    detail = f"{folder} is writable" if folder.exists() else f"{folder} will be made when it is needed"
    found = Finding(subject="data folder", level=Level.OK, detail=detail)
    return [found] if settings.on_servers else [found, _worker(settings)]


def _worker(settings: Settings) -> Finding:
    who = holder(settings.data_dir) if is_held(settings.data_dir) else None
    if who is None:
        return Finding(subject="worker", level=Level.OK, detail="none runs; serve, ingest and worker start one")
    if who.silent_seconds > settings.worker.lease_seconds:
        return Finding(
            subject="worker",
            level=Level.PROBLEM,
            detail=f"process {who.pid} holds the folder and has been silent for {who.silent_seconds:.0f} s",
            remedy=f"`hopweave serve` or `ingest` replaces it; or end process {who.pid}",
        )
    return Finding(subject="worker", level=Level.OK, detail=f"process {who.pid} holds the folder and is alive")


async def examine_schema(settings: Settings) -> Finding:
    """Before the record is opened, which would bring an older schema up."""
    subject = "schema"
    try:
        schema = await examine(settings)
    except HopweaveError as error:
        return Finding(subject=subject, level=Level.PROBLEM, detail=str(error))
    return _of_schema(subject, schema)


def _of_schema(subject: str, schema: Schema) -> Finding:
    match schema.state:
        case SchemaState.MISSING:
            return Finding(subject=subject, level=Level.OK, detail=f"{schema.record}: nothing is there yet")
        case SchemaState.NEWEST:
            return Finding(subject=subject, level=Level.OK, detail=f"{schema.record}: version {schema.found}")
        case SchemaState.OLDER:
            detail = f"{schema.record}: version {schema.found}, and this release has {schema.newest}"
            return Finding(
                subject=subject, level=Level.PROBLEM, detail=detail, remedy="`hopweave migrate` brings it up"
            )
        case SchemaState.NEWER:
            detail = f"{schema.record}: version {schema.found} is newer than this release's {schema.newest}"
            return Finding(subject=subject, level=Level.PROBLEM, detail=detail, remedy="use the release that wrote it")


async def examine_stores(container: Container) -> AsyncIterator[Finding]:
    """One finding a store, and one for the broker of a server installation."""
    for name, check in store_checks(container).items():
        subject = name if name == _BROKER else f"store {name}"
        try:
            answer = await check()
        except HopweaveError as error:
            yield Finding(subject=subject, level=Level.PROBLEM, detail=str(error), remedy=_REMEDIES.get(name, ""))
        else:
            yield _answered(subject, answer)


def _answered(subject: str, answer: str) -> Finding:
    if answer.startswith("Neo4j/") and not answer.startswith(_TESTED_NEO4J):
        detail = f"{answer} answers; only the line 5.26 is tested"
        return Finding(subject=subject, level=Level.NOTE, detail=detail)
    return Finding(subject=subject, level=Level.OK, detail=f"{answer} answers")


def _nearest(settings: Settings) -> "os.PathLike[str]":
    """The nearest folder above that exists."""
    return next(parent for parent in settings.data_dir.absolute().parents if parent.exists())
