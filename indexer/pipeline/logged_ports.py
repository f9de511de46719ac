"""The ports of claims and commits with a log: what `worker.log` tells of each document, and how long it took."""

import logging
import time
from collections import Counter
from collections.abc import Sequence

from core.documents import RevisionState
from core.graph import Synonym
from core.ports.record import (
    EVERY_REVISION,
    Claim,
    ClaimFilter,
    ClaimProgress,
    Claims,
    Commit,
    Commits,
    NewRevision,
    Outcome,
)
from core.telemetry.logs import log_event, request_id_of_job
from core.telemetry.metrics import LEASES_EXPIRED

_log = logging.getLogger("hopweave.worker")

Token = tuple[str, str, int, int]


class LoggedClaims:
    """Implements `core.ports.record.Claims` by another `Claims`. Documents are logged by key, without their content."""

    def __init__(self, inner: Claims, corpus: str) -> None:
        self._inner = inner
        self._corpus = corpus
        self.made = 0
        """The number of claims that were made."""
        self._begun: dict[Token, float] = {}

    async def list_corpora(self, only: ClaimFilter = EVERY_REVISION) -> list[str]:
        return await self._inner.list_corpora(only)

    async def claim(
        self,
        corpus_id: str,
        worker: str,
        *,
        lease_seconds: float,
        max_bytes: int,
        max_documents: int = 1000,
        only: ClaimFilter = EVERY_REVISION,
    ) -> list[Claim]:
        claims = await self._inner.claim(
            corpus_id, worker, lease_seconds=lease_seconds, max_bytes=max_bytes, max_documents=max_documents, only=only
        )
        self.made += len(claims)
        now = time.monotonic()
        self._begun.update({claim.token: now for claim in claims})
        for job, documents in Counter(claim.job_id for claim in claims).items():
            self._report(logging.INFO, "claimed", job, documents=documents)
        if taken_over := sum(claim.taken_over for claim in claims):
            LEASES_EXPIRED.record(taken_over)
            log_event(_log, logging.WARNING, "leases expired", corpus=self._corpus, documents=taken_over)
        return claims

    async def enqueue_claimed(
        self, corpus_id: str, revisions: Sequence[NewRevision], worker: str, *, job_id: str, lease_seconds: float
    ) -> list[Claim]:
        return await self._inner.enqueue_claimed(
            corpus_id, revisions, worker, job_id=job_id, lease_seconds=lease_seconds
        )

    async def renew(self, claims: Sequence[Claim], *, lease_seconds: float) -> list[Claim]:
        fenced = await self._inner.renew(claims, lease_seconds=lease_seconds)
        for claim in fenced:
            if claim.token in self._begun:  # others have ended while their leases were being renewed
                self.report_end(logging.WARNING, "claim lost", claim)
        return fenced

    async def set_state(self, claims: Sequence[Claim], state: RevisionState) -> list[Claim]:
        return await self._inner.set_state(claims, state)

    async def report(self, progress: Sequence[ClaimProgress]) -> None:
        await self._inner.report(progress)

    async def release(self, claims: Sequence[Claim]) -> None:
        await self._inner.release(claims)
        for claim in claims:
            self.report_end(logging.INFO, "handed back", claim)

    async def fail(self, claim: Claim, reason: str) -> None:
        await self._inner.fail(claim, reason)
        self.report_end(logging.WARNING, "document failed", claim, reason=reason)

    async def pause(self, claims: Sequence[Claim], reason: str) -> None:
        await self._inner.pause(claims, reason)
        for claim in claims:
            self.report_end(logging.WARNING, "document paused", claim, reason=reason)

    def report_end(self, level: int, message: str, claim: Claim, **fields: object) -> None:
        """Logs the end of a claim, with the seconds since it was made."""
        begun = self._begun.pop(claim.token, None)
        seconds = None if begun is None else round(time.monotonic() - begun, 3)
        self._report(level, message, claim.job_id, document=claim.key, **fields, seconds=seconds)

    def _report(self, level: int, message: str, job_id: str, **fields: object) -> None:
        request_id = request_id_of_job(job_id)
        log_event(_log, level, message, corpus=self._corpus, job=job_id, request_id=request_id, **fields)


class LoggedCommits:
    """Implements `core.ports.record.Commits` by another `Commits`, and logs what is committed."""

    def __init__(self, inner: Commits, claims: LoggedClaims) -> None:
        self._inner = inner
        self._claims = claims

    async def commit(
        self, commits: Sequence[Commit], synonyms: Sequence[Synonym] = (), *, grace: float, seen: int | None = None
    ) -> Outcome:
        outcome = await self._inner.commit(commits, synonyms, grace=grace, seen=seen)
        fenced = {claim.token for claim in outcome.fenced}
        for one in commits:
            if one.claim.token in fenced:
                self._claims.report_end(logging.WARNING, "claim lost", one.claim)
            elif one.claim.deletion:
                self._claims.report_end(logging.INFO, "document deleted", one.claim)
            else:
                self._claims.report_end(logging.INFO, "document indexed", one.claim, passages=len(one.chunks))
        return outcome

    async def list_pending_synonyms(self, corpus_id: str) -> list[str]:
        return await self._inner.list_pending_synonyms(corpus_id)

    async def link_synonyms(self, corpus_id: str, entity_ids: Sequence[str], synonyms: Sequence[Synonym]) -> None:
        await self._inner.link_synonyms(corpus_id, entity_ids, synonyms)
