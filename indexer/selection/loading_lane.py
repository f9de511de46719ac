"""Loading for callers that wait: documents are read again, or read for an estimate, in a lane of their own."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Protocol, TypeVar

from core.ports.indexing import LoadedDocument, Source
from indexer.isolation.lane import Lane, LaneLimits
from indexer.isolation.limits import ParserLimits
from indexer.selection.docling import Docling
from indexer.selection.loaders import Loaders

T = TypeVar("T")


class RunWithLoaders(Protocol):
    """Runs a function of the loaders in the thread of a lane."""

    async def __call__(self, work: Callable[[Loaders], T]) -> T: ...


class LoadingLane:
    """Loaders with a thread and a parser process of their own, so that no other loading waits for them."""

    def __init__(
        self,
        name: str,
        limits: LaneLimits,
        specs: Sequence[str] = (),
        parser: ParserLimits | None = None,
        docling: Docling | None = None,
    ) -> None:
        """Raises `InvalidStrategy` as `Loaders` does."""
        self._loaders = Loaders(specs, parser, docling)
        self._lane = Lane(name, limits, self._loaders.interrupt)

    @property
    def admitted(self) -> int:
        """The number of calls that wait or run."""
        return self._lane.admitted

    @property
    def parser_pid(self) -> int | None:
        """The number of the parser process, if it runs."""
        return self._loaders.parser_pid

    async def load(self, source: Source, caller: str, *, docling: bool = False) -> LoadedDocument:
        """Loads as `Loaders.load` does. Raises the same, and `RateLimited` if too many calls wait.

        A call that is cancelled is not carried out, or ends.
        """
        async with self._lane.admit(caller), self._lane.turn(caller) as run:
            loaded: LoadedDocument = await run(partial(self._loaders.load, docling=docling), source)
            return loaded

    @asynccontextmanager
    async def admit(self, caller: str) -> AsyncIterator[RunWithLoaders]:
        """Admits a call that takes several turns: yields what runs a function of the loaders in its next turn.

        Raises `RateLimited` if too many calls are admitted.
        """
        async with self._lane.admit(caller):

            async def take_turn(work: Callable[[Loaders], T]) -> T:
                async with self._lane.turn(caller) as run:
                    done: T = await run(work, self._loaders)
                    return done

            yield take_turn

    async def close(self) -> None:
        """Ends the parser process, and refuses calls that still wait."""
        self._lane.close()
        await self._loaders.close()
