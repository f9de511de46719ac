"""Examines settings that are valid one by one but do not work together, and with which the server still starts."""

from collections.abc import Iterator
from pathlib import Path

from app.doctor.findings import Finding, Level
from core.settings import Settings
from core.strategies import load_module, parse_spec
from indexer.isolation.limits import MEGABYTE
from reasoning import REASONERS

__all__ = ["examine_settings", "find_memory_limit"]

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
