"""Readiness: whether the stores answer, without which nothing works, and the broker, without which work is delayed."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from app.composition import Check
from app.container import Container
from core.errors import HopweaveError, InvalidSettings, Unavailable

_TIMEOUT_SECONDS = 4.0  # so that `/readyz` answers in five
_START_TIMEOUT_SECONDS = 30.0  # the client libraries are loaded first; an outage is noticed much sooner

_SETTINGS = {
    "record": "HOPWEAVE_NEO4J__URI",
    "text": "HOPWEAVE_NEO4J__URI",
    "vectors": "HOPWEAVE_MILVUS__URI",
    "files": "HOPWEAVE_FILES__URL (of a bucket also AWS_ENDPOINT_URL)",
    "broker": "HOPWEAVE_BROKER__URL",
}
"""Where the server of each part is set."""

_log = logging.getLogger("hopweave.app")


class PartState(StrEnum):
    OK = "ok"
    DEGRADED = "degraded"
    DOWN = "down"


@dataclass(frozen=True, kw_only=True)
class Part:
    """The state of a part. `said` is what answers, such as `Neo4j/5.26.30`, or why it does not, as `error` says."""

    state: PartState
    said: str
    error: HopweaveError | None = None


class Readiness:
    """Checks all parts at once. A part that hangs is checked by one thread only, however often `look` is called."""

    def __init__(self, container: Container) -> None:
        self._checks = store_checks(container)
        self._settings = _SETTINGS if container.settings.on_servers else {}
        self._degrading = set(container.composition.server_checks())
        self._checking: dict[str, asyncio.Task[str]] = {}

    async def look(self, seconds: float = _TIMEOUT_SECONDS) -> Mapping[str, Part]:
        """Returns each part by name, after at most `seconds`."""
        for name, check in self._checks.items():
            before = self._checking.get(name)
            if before is None or before.done():
                self._checking[name] = asyncio.create_task(check(), name=f"check of {name}")
        checking = dict(self._checking)  # another look may begin anew what has ended
        await asyncio.wait(checking.values(), timeout=seconds)
        return {name: self._part(name, task, seconds) for name, task in checking.items()}

    def _part(self, name: str, task: "asyncio.Task[str]", seconds: float) -> Part:
        missing = PartState.DEGRADED if name in self._degrading else PartState.DOWN
        if not task.done():
            remedy = f"; check that its server runs, and {self._settings[name]}" if name in self._settings else ""
            error = Unavailable(f"no answer within {seconds:.0f} s{remedy}")
            return Part(state=missing, said=str(error), error=error)
        try:
            return Part(state=PartState.OK, said=task.result())
        except HopweaveError as found:
            return Part(state=missing, said=str(found), error=found)


async def check_at_start(container: Container) -> None:
    """Raises `InvalidSettings` if a server refuses access. Does nothing in an embedded installation.

    A server that does not answer is logged only: it may start later than this process.
    """
    if not container.composition.waits_for_servers:
        return
    for name, part in (await Readiness(container).look(_START_TIMEOUT_SECONDS)).items():
        if isinstance(part.error, InvalidSettings):
            raise part.error
        if part.state is not PartState.OK:
            _log.warning("%s: %s; it is waited for", name, part.said)


def store_checks(container: Container) -> dict[str, Check]:
    """Returns the checks of the stores and of other servers, by name. Each opens its store, which may fail too."""

    async def record() -> str:
        return await container.record.check()

    async def vectors() -> str:
        return await container.vectors.check()

    async def text() -> str:
        return await container.text.check()

    async def files() -> str:
        return await container.files.check()

    checks: dict[str, Check] = {
        "record": record,
        "vectors": vectors,
        "text": text,
        "files": files,
    }
    return {**checks, **container.composition.server_checks()}
