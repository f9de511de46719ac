"""Examines an installation without its corpora: its settings, its stores, and its models.

- Settings that are valid one by one may not work together; the server starts with them nevertheless.
- Of the data folder, the schema and the stores: what answers, in which version, and with which schema.
- Of the services that need no store: whether the models and the web search answer, and how language models are asked
  for JSON.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from app.composition import Schema, SchemaState, choose_composition
from app.container import Container
from app.doctor.findings import Finding, Level
from app.doctor.readiness import store_checks
from app.supervision.folder_lock import is_held, read_holder
from core.errors import HopweaveError
from core.ports.embedding_form import split_form
from core.settings import DoclingSettings, LlmSettings, Settings
from core.strategies import load_module, parse_spec
from indexer.isolation.limits import MEGABYTE
from models import ConfiguredModel, ConfiguredModels, OutputMode, Probe, make_chat_models
from reasoning import REASONERS

_LEAST_PARSER_MB = 64  # as the setting takes it
_GROUPS = Path("/sys/fs/cgroup")
_FILES = ("memory.max", "memory/memory.limit_in_bytes")  # of version 2 and 1; in a container, they are its own
_UNLIMITED = 1 << 60
"""Version 1 has a number of this size where there is no limit, and version 2 a word."""


def examine_settings(settings: Settings) -> Iterator[Finding]:
    """Yields one finding for each combination of settings that does not work."""
    worker = settings.worker
    if worker.renew_seconds >= worker.lease_seconds:
        yield _make_finding(
            f"HOPWEAVE_WORKER__RENEW_SECONDS ({worker.renew_seconds:g}) is not less than "
            f"HOPWEAVE_WORKER__LEASE_SECONDS ({worker.lease_seconds:g}): work is lost while it is done",
            "renew a lease several times before it runs out",
        )
    if settings.reasoner and not settings.llm.model and _needs_model(settings.reasoner):
        yield _make_finding(
            f"HOPWEAVE_REASONER is {settings.reasoner!r}, which needs a language model, and none is configured",
            "set HOPWEAVE_LLM__MODEL, or leave HOPWEAVE_REASONER out",
        )
    if "llm" in settings.extractor.split("+") and not settings.llm.model and "extract" not in settings.llm.roles:
        yield _make_finding(
            f"HOPWEAVE_EXTRACTOR is {settings.extractor!r}, which needs a language model, and none is configured",
            "set HOPWEAVE_LLM__MODEL, or HOPWEAVE_EXTRACTOR=pattern",
        )
    if settings.searcher.startswith("reranked") and not settings.reranker.kind:
        yield _make_finding(
            "HOPWEAVE_SEARCHER is `reranked`, and no reranker is configured", "set HOPWEAVE_RERANKER__KIND and __MODEL"
        )
    allowed, asked = find_memory_limit(), settings.parser.memory_mb * MEGABYTE
    if allowed is not None and asked > allowed // 2:
        yield _make_finding(
            f"HOPWEAVE_PARSER__MEMORY_MB is {settings.parser.memory_mb}, and this container may take "
            f"{allowed // MEGABYTE} MB in all: the kernel may kill the worker because of one file",
            f"set it to {max(_LEAST_PARSER_MB, allowed // 2 // MEGABYTE)} or less, or give the container more memory",
        )
    if settings.store.record == "neo4j" and not settings.neo4j.password.get_secret_value():
        yield _make_finding("HOPWEAVE_NEO4J__PASSWORD is empty", "give Neo4j a password, and set it here")


def find_memory_limit(groups: Path = _GROUPS) -> int | None:
    """Returns the bytes that a control group leaves to this process and its neighbours; None without a limit."""
    for name in _FILES:
        try:
            said = (groups / name).read_text("ascii").strip()
        except OSError:
            continue
        return int(said) if said.isdigit() and int(said) < _UNLIMITED else None
    return None


def _needs_model(reasoner: str) -> bool:
    return bool(getattr(load_module(REASONERS, parse_spec(reasoner).name, "reasoner"), "NEEDS_MODEL", False))


def _make_finding(detail: str, remedy: str) -> Finding:
    return Finding(subject="settings", level=Level.PROBLEM, detail=detail, remedy=remedy)


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
    """Examines who else may read the folder. Hopweave makes private folders, and changes no existing folder."""
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
    """Examines the schema. Opening the record would migrate an older schema, so this comes first."""
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


_SUBJECT = "language model"
_ENOUGH_CONTEXT = 8192
"""Tokens in which the passages of most questions fit, and an answer."""
_MODES = {
    OutputMode.SCHEMA: "a JSON schema",
    OutputMode.OBJECT_OF_SCHEMA: "JSON mode with a schema",
    OutputMode.OBJECT: "JSON mode (it knows no JSON schema)",
    OutputMode.TEXT: "words alone (it knows neither a JSON schema nor JSON mode)",
}


async def check_models(models: ConfiguredModels, settings: LlmSettings) -> list[Finding]:
    """Returns one finding for each configured model. Each is asked one short question, which its provider may bill."""
    if not settings.model and not any(role.model for role in settings.roles.values()):
        detail = "none is configured; answers are extracted, not written"
        return [Finding(subject=_SUBJECT, level=Level.NOTE, detail=detail, remedy="HOPWEAVE_LLM__MODEL sets one")]
    findings = []
    named: dict[int, tuple[ConfiguredModel, list[str]]] = {}
    for role in [*([""] if settings.model else []), *sorted(settings.roles)]:
        try:
            configured = models.configured(role)
        except HopweaveError as error:
            findings.append(Finding(subject=_subject([role]), level=Level.PROBLEM, detail=str(error)))
            continue
        named.setdefault(id(configured), (configured, []))[1].append(role)
    return findings + [
        await _check(configured, roles, is_small=models.is_small(roles[0])) for configured, roles in named.values()
    ]


async def _check(configured: ConfiguredModel, roles: list[str], *, is_small: bool) -> Finding:
    subject = _subject(roles)
    try:
        probe = await configured.probe()
    except HopweaveError as error:
        return Finding(subject=subject, level=Level.PROBLEM, detail=str(error))
    detail = f"{configured.model} at {configured.url} answers; it is asked for JSON by {_MODES[probe.mode]}"
    if is_small:
        detail += ", and for short answers, as a small model (HOPWEAVE_LLM__PROFILE)"
    detail += _describe_speed(probe)
    if probe.context is not None:
        detail += f"; its context is {probe.context} tokens"
    if probe.truncates and (probe.context or 0) < _ENOUGH_CONTEXT:
        is_noticed = ", which is noticed: passages are then left out" if probe.context else " unnoticed"
        detail += f"; Ollama truncates longer prompts{is_noticed}"
        remedy = f"OLLAMA_CONTEXT_LENGTH={_ENOUGH_CONTEXT} or more, for the process of Ollama"
        return Finding(subject=subject, level=Level.NOTE, detail=detail, remedy=remedy)
    if probe.heeded:
        return Finding(subject=subject, level=Level.OK, detail=detail)
    remedy = "answers that cannot be read are asked for once more; a model that follows instructions better saves that"
    return Finding(subject=subject, level=Level.NOTE, detail=f"{detail}, and answered otherwise", remedy=remedy)


def _describe_speed(probe: Probe) -> str:
    speeds = {"reads": probe.read_per_second, "writes": probe.written_per_second}
    told = [f"{verb} {speed:.3g}" for verb, speed in speeds.items() if speed is not None]
    return f"; it {' and '.join(told)} tokens a second" if told else ""


def _subject(roles: list[str]) -> str:
    """Roles without a model of their own use the general model, whose role is empty."""
    return _SUBJECT if "" in roles else f"{_SUBJECT} of {', '.join(roles)}"


async def examine_services(container: Container) -> AsyncIterator[Finding]:
    """Yields one finding for each model, and one for the web search."""
    yield await _examine_embedding_model(container)
    for finding in await _examine_language_models(container):
        yield finding
    yield await _examine_reranker(container)
    yield _examine_web(container)
    if container.settings.docling.url:
        yield await asyncio.to_thread(_examine_docling, container.settings.docling)


async def _examine_embedding_model(container: Container) -> Finding:
    try:
        vector = await container.embedder.embed_query("Does the model answer?")
    except HopweaveError as error:
        told = "HOPWEAVE_EMBEDDING__" in str(error)  # the setting that is wrong, which may be any of them
        remedy = "" if told else "check HOPWEAVE_EMBEDDING__MODEL and HOPWEAVE_EMBEDDING__KIND"
        return Finding(subject="embedding model", level=Level.PROBLEM, detail=str(error), remedy=remedy)
    weights, form = split_form(container.embedder.model)
    detail = f"{weights} answers with {len(vector)} dimensions, {form.describe() or 'no prefixes'}"
    return Finding(subject="embedding model", level=Level.OK, detail=detail)


async def _examine_language_models(container: Container) -> list[Finding]:
    settings = container.settings.llm
    models = make_chat_models(settings, None, None)
    try:
        return await check_models(models, settings)
    finally:
        await models.close()


def _examine_docling(settings: DoclingSettings) -> Finding:
    from models.docling_serve import DoclingServe  # imports its client of HTTP

    server = DoclingServe(url=settings.url, api_key=settings.api_key)
    try:
        server.check()
    except HopweaveError as error:
        return Finding(subject="docling", level=Level.PROBLEM, detail=str(error))
    finally:
        server.close()
    return Finding(subject="docling", level=Level.OK, detail=f"it answers, for {', '.join(settings.formats)}")


async def _examine_reranker(container: Container) -> Finding:
    subject = "reranker"
    try:
        if container.reranker is None:
            remedy = "HOPWEAVE_RERANKER__KIND sets one, for the searcher `reranked` and the reasoner `omni`"
            return Finding(subject=subject, level=Level.NOTE, detail="none is configured", remedy=remedy)
        await container.reranker.rank("Does it answer?", ["It does."])
    except HopweaveError as error:
        return Finding(subject=subject, level=Level.PROBLEM, detail=str(error))
    return Finding(subject=subject, level=Level.OK, detail=f"{container.settings.reranker.kind} answers")


def _examine_web(container: Container) -> Finding:
    """Returns whether a web search is configured. No query is sent."""
    subject = "web search"
    try:
        if container.web is None:
            remedy = "HOPWEAVE_WEB__KIND sets one, for the searcher `web`"
            return Finding(subject=subject, level=Level.NOTE, detail="none is configured", remedy=remedy)
    except HopweaveError as error:
        return Finding(subject=subject, level=Level.PROBLEM, detail=str(error))
    detail = f"{container.settings.web.kind} is configured; no query was sent to try it"
    return Finding(subject=subject, level=Level.OK, detail=detail)
