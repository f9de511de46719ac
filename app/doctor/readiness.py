"""Whether what Hopweave stands on answers: the stores, without which nothing works, and the broker, which is missed."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from enum import StrEnum

from app.broker.notifier import broker_answer
from app.container import Container
from core.errors import HopweaveError, InvalidSettings, Unavailable

__all__ = ["Part", "PartState", "Readiness", "check_at_start", "store_checks"]

_PATIENCE_SECONDS = 4.0  # whoever asks has an answer in five
_PATIENCE_AT_START = 30.0  # the libraries of all servers are loaded first; one that is away says so much sooner

_log = logging.getLogger("hopweave.app")


class PartState(StrEnum):
    OK = "ok"
    DEGRADED = "degraded"
    DOWN = "down"


@dataclass(frozen=True, kw_only=True)
class Part:
    """`said` is what answers, such as `Neo4j/5.26.30`, or why it does not; then `error` is what was raised."""

    state: PartState
    said: str
    error: HopweaveError | None = None


class Readiness:
    """Looks at each part, at all of them at once.

    A part that hangs is looked at by one thread only, however often somebody asks.
    """

    def __init__(self, container: Container) -> None:
        self._checks = store_checks(container)
        self._degrades = {"broker"}
        self._looking: dict[str, asyncio.Task[str]] = {}

    async def look(self, patience: float = _PATIENCE_SECONDS) -> Mapping[str, Part]:
        """Each part by name, after `patience` seconds at most."""
        for name, check in self._checks.items():
            before = self._looking.get(name)
            if before is None or before.done():
                self._looking[name] = asyncio.create_task(check(), name=f"looking at {name}")
        await asyncio.wait(self._looking.values(), timeout=patience)
        return {name: self._part(name, patience) for name in self._checks}

    def _part(self, name: str, patience: float) -> Part:
        looking = self._looking[name]
        missing = PartState.DEGRADED if name in self._degrades else PartState.DOWN
        if not looking.done():
            error = Unavailable(f"no answer within {patience:.0f} s")
            return Part(state=missing, said=str(error), error=error)
        try:
            return Part(state=PartState.OK, said=looking.result())
        except HopweaveError as found:
            return Part(state=missing, said=str(found), error=found)


async def check_at_start(container: Container) -> None:
    """On servers: raise `InvalidSettings` where a server refuses us, which no waiting mends.

    A server that is away is worth a warning only: it is waited for, and may come in any order with us.
    """
    if not container.settings.on_servers:
        return
    for name, part in (await Readiness(container).look(_PATIENCE_AT_START)).items():
        if isinstance(part.error, InvalidSettings):
            raise part.error
        if part.state is not PartState.OK:
            _log.warning("%s: %s; it is waited for", name, part.said)


def store_checks(container: Container) -> dict[str, Callable[[], Coroutine[None, None, str]]]:
    """By name, what each store, and on servers the broker, answers. Naming a store opens it: that may fail, too."""

    async def record() -> str:
        return await container.record.check()

    async def vectors() -> str:
        return await container.vectors.check()

    async def text() -> str:
        return await container.text.check()

    async def files() -> str:
        return await container.files.check()

    async def broker() -> str:
        return await asyncio.to_thread(broker_answer, container.settings)

    checks: dict[str, Callable[[], Coroutine[None, None, str]]] = {
        "record": record,
        "vectors": vectors,
        "text": text,
        "files": files,
    }
    return {**checks, "broker": broker} if container.settings.on_servers else checks
