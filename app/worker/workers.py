"""Worker processes over servers: any number on any host, each replaced when it dies."""

import logging
import os
import signal
import time
from types import FrameType

from app.worker.child import EXIT_SETTINGS, Child
from core.settings import Settings

__all__ = ["Workers"]

_LOOK_SECONDS = 0.2
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.3, 10.0
_HEALTHY_SECONDS = 60.0
_FAREWELL_SECONDS = 35.0
_THREADS = "OMP_NUM_THREADS"  # PyTorch's, for embedding: left alone, each process would take all cores

_log = logging.getLogger("hopweave.worker")


class Workers:
    """`run` keeps them alive until SIGTERM or SIGINT: then they finish what they write and hand back the rest.

    A second signal, or a farewell that takes too long, kills them; what they had claimed is free when its lease ends.
    """

    def __init__(self, settings: Settings, concurrency: int) -> None:
        environment = {"HOPWEAVE_DATA_DIR": str(settings.data_dir.resolve())}
        if concurrency > 1 and _THREADS not in os.environ:
            environment[_THREADS] = str(max(1, (os.cpu_count() or 1) // concurrency))
        self._places = [_Place(environment) for _ in range(concurrency)]
        self._signals = 0

    def run(self) -> bool:
        """In the main thread, which signals reach; returns whether all ended in peace, and when told to."""
        before = {number: signal.signal(number, self._count) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            while not self._signals:
                for place in self._places:
                    place.keep()
                if any(place.hopeless for place in self._places):
                    self._part()
                    return False
                time.sleep(_LOOK_SECONDS)
            _log.info("finishing what is being written; a second signal ends it at once")
            return self._part()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _count(self, _number: int, _frame: FrameType | None) -> None:
        self._signals += 1

    def _part(self) -> bool:
        children = [place.child for place in self._places if place.child is not None]
        for child in children:
            child.dismiss()
        deadline = time.monotonic() + _FAREWELL_SECONDS
        while any(child.ended() is None for child in children):
            if self._signals > 1 or time.monotonic() > deadline:
                break
            time.sleep(_LOOK_SECONDS)
        late = [child for child in children if child.ended() is None]
        for child in late:
            _log.warning("worker process %d is killed; what it had claimed is free when its lease ends", child.pid)
            child.kill()
        return not late


class _Place:
    """One worker process, and another when it has died, after a pause that grows if that happens again and again."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.child: Child | None = None
        self.hopeless = False
        """Its settings are wrong, which another process would say too."""
        self._environment = environment
        self._pause = _SHORTEST_PAUSE
        self._not_before = 0.0

    def keep(self) -> None:
        if self.child is not None and (code := self.child.ended()) is not None:
            self._bury(self.child, code)
        if self.child is None and not self.hopeless and time.monotonic() >= self._not_before:
            self.child = Child(self._environment, output=None)

    def _bury(self, child: Child, code: int) -> None:
        child.dismiss()
        self.child = None
        self.hopeless = code == EXIT_SETTINGS
        if self.hopeless:
            return
        lived = time.monotonic() - child.started
        self._pause = _SHORTEST_PAUSE if lived > _HEALTHY_SECONDS else min(2 * self._pause, _LONGEST_PAUSE)
        self._not_before = time.monotonic() + self._pause
        _log.warning("worker process %d ended (%s); another starts in %.1f s", child.pid, _how(code), self._pause)


def _how(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
