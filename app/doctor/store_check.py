"""The checks of the stores: what answers, in which version, and with which schema."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

from app.composition import Schema, SchemaState, choose_composition
from app.container import Container
from app.doctor.findings import Finding, Level
from app.doctor.readiness import store_checks
from app.supervision.folder_lock import is_held, read_holder
from core.errors import HopweaveError
from core.settings import Settings

__all__ = ["examine_folder", "examine_schema", "examine_stores"]

_TESTED_NEO4J = "Neo4j/5.26."
_BROKER = "broker"
_REMEDIES = {_BROKER: "uploads are accepted meanwhile, and workers look for work by themselves"}


def examine_folder(settings: Settings) -> list[Finding]:
    """Examines the data folder and its worker. Opens no store."""
    folder = settings.data_dir
    place = folder if folder.exists() else _nearest(settings)
    if not os.access(place, os.W_OK | os.X_OK):
        remedy = "make it writable, or set HOPWEAVE_DATA_DIR to another folder"
        return [Finding(subject="data folder", level=Level.PROBLEM, detail=f"{place} is not writable", remedy=remedy)]
    detail = f"{folder} is writable" if folder.exists() else f"{folder} will be made when it is needed"
    found = [Finding(subject="data folder", level=Level.OK, detail=detail), *_examine_mode(folder)]
    locked = choose_composition(settings).locked_folder
    return found if locked is None else [*found, _examine_worker(locked, settings.worker.lease_seconds)]


def _examine_mode(folder: Path) -> list[Finding]:
    """Examines who else may read the folder. Hopweave makes one for its user alone, and changes none that exists."""
    mode = folder.stat().st_mode & 0o777 if folder.exists() else 0
    if not mode & 0o077:
        return []
    detail = f"other users of this machine may read {folder} (its mode is {mode:o})"
    remedy = f"unless they should, `chmod 700 {folder}`"
    return [Finding(subject="data folder", level=Level.NOTE, detail=detail, remedy=remedy)]


def _examine_worker(folder: Path, lease_seconds: float) -> Finding:
    holder = read_holder(folder) if is_held(folder) else None
    if holder is None:
        return Finding(subject="worker", level=Level.OK, detail="none runs; serve, ingest and worker start one")
    if holder.silent_seconds > lease_seconds:
        return Finding(
            subject="worker",
            level=Level.PROBLEM,
            detail=f"process {holder.pid} holds the folder and has been silent for {holder.silent_seconds:.0f} s",
            remedy=f"`hopweave serve` or `ingest` replaces it; or end process {holder.pid}",
        )
    if holder.waits_for:
        return Finding(
            subject="worker",
            level=Level.PROBLEM,
            detail=f"process {holder.pid} waits: {holder.waits_for}",
            remedy="work goes on by itself when that is mended",
        )
    return Finding(subject="worker", level=Level.OK, detail=f"process {holder.pid} holds the folder and is alive")


async def examine_schema(settings: Settings) -> Finding:
    """Examines the schema. Opening the record would migrate an older one, so this comes before."""
    subject = "schema"
    try:
        schema = await choose_composition(settings).read_schema()
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
    """Yields one finding for each store, and on servers one for the broker."""
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
    """Returns the nearest parent folder that exists."""
    return next(parent for parent in settings.data_dir.absolute().parents if parent.exists())
