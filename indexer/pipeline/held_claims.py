"""The claims that one run holds: made in batches, renewed while they are held, and given back in the end."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager

from core.errors import Unavailable
from core.ports.record import Claim, ClaimFilter, Claims
from indexer.pipeline.options import WorkerOptions

_MAX_DOCUMENTS = 1000


class HeldClaims:
    """Claims revisions of one corpus for one worker. `on_fenced` is called with claims that turn out to be fenced."""

    def __init__(
        self,
        worker: str,
        corpus_id: str,
        claims: Claims,
        options: WorkerOptions,
        on_fenced: Callable[[Sequence[Claim]], None],
    ) -> None:
        self._worker = worker
        self._corpus_id = corpus_id
        self._store = claims
        self._options = options
        self._on_fenced = on_fenced
        self._held: dict[tuple[str, str, int, int], Claim] = {}

    def __contains__(self, claim: Claim) -> bool:
        return claim.token in self._held

    @property
    def largest(self) -> int:
        """The size of the largest held revision, in bytes; 0 without revisions."""
        return max((claim.size for claim in self._held.values()), default=0)

    @property
    def has_suspect(self) -> bool:
        """Whether a revision is held that is claimed alone."""
        return any(claim.suspect for claim in self._held.values())

    async def claim(self, max_bytes: int, only: ClaimFilter) -> list[Claim]:
        """Claims the next batch of this kind. It has at most `max_bytes` of content, and at most
        `WorkerOptions.batch_bytes`, but at least one document.

        If it is cancelled, the claims that the record makes nevertheless are held, so that they are given back.
        """
        claiming = asyncio.ensure_future(
            self._store.claim(
                self._corpus_id,
                self._worker,
                lease_seconds=self._options.lease_seconds,
                max_bytes=min(max_bytes, self._options.batch_bytes),
                max_documents=_MAX_DOCUMENTS,
                only=only,
            )
        )
        try:
            claims = await asyncio.shield(claiming)
        except asyncio.CancelledError:  # the transaction continues in its thread
            self._add(await claiming)
            raise
        self._add(claims)
        return claims

    def discard(self, claims: Iterable[Claim]) -> None:
        """Holds these claims no longer: they are committed, failed or fenced."""
        for claim in claims:
            self._held.pop(claim.token, None)

    async def release(self) -> None:
        """Makes what is held claimable at once, without counting an attempt."""
        await self._store.release(list(self._held.values()))

    async def expire(self) -> None:
        """Makes what is held claimable at once. The attempt counts, so a document that always fails is given up."""
        await self._store.renew(list(self._held.values()), lease_seconds=0.0)

    @asynccontextmanager
    async def periodic_renewal(self) -> AsyncIterator[None]:
        """Renews the leases every `renew_seconds` while the block lasts."""
        task = asyncio.create_task(self._renew_forever())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def _renew_forever(self) -> None:
        while True:
            await asyncio.sleep(self._options.renew_seconds)
            held = list(self._held.values())
            try:
                fenced = await self._store.renew(held, lease_seconds=self._options.lease_seconds)
            except Unavailable:
                continue  # the next write raises it again
            self._on_fenced(fenced)

    def _add(self, claims: Iterable[Claim]) -> None:
        self._held.update({claim.token: claim for claim in claims})
