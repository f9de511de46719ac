"""The progress of the revisions of a run: what is done of each, and its report to the record now and then."""

import asyncio
from collections.abc import Iterable, Mapping

from core.errors import Unavailable
from core.ports.record import Claim, ClaimProgress, Claims

_REPORT_SECONDS = 1.0

_Token = tuple[str, str, int, int]


class ProgressReport:
    """Counts the passages of claimed revisions that are done. Reports the changes every second."""

    def __init__(self, claims: Claims) -> None:
        self._claims = claims
        self._revisions: dict[_Token, ClaimProgress] = {}
        self._reported: dict[_Token, ClaimProgress] = {}

    def begin(self, claim: Claim, passages: int, *, done: int = 0) -> None:
        """A revision has been cut into passages."""
        self._revisions[claim.token] = ClaimProgress(claim=claim, passages=passages, done=done)

    def add(self, done: Mapping[_Token, int]) -> None:
        """More passages are done, by the token of the claim."""
        for token, count in done.items():
            before = self._revisions.get(token)
            if before is not None:
                total = min(before.passages, before.done + count)
                self._revisions[token] = ClaimProgress(claim=before.claim, passages=before.passages, done=total)

    def discard(self, claims: Iterable[Claim]) -> None:
        """These claims have ended."""
        for claim in claims:
            self._revisions.pop(claim.token, None)
            self._reported.pop(claim.token, None)

    async def report_forever(self) -> None:
        """Reports every second. The next report repeats a report that failed."""
        while True:
            await asyncio.sleep(_REPORT_SECONDS)
            changed = {token: one for token, one in self._revisions.items() if self._reported.get(token) != one}
            if not changed:
                continue
            try:
                await self._claims.report(list(changed.values()))
            except Unavailable:
                continue  # the next write of the run raises it again
            self._reported |= {token: one for token, one in changed.items() if token in self._revisions}
