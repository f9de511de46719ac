"""Jobs: sets of revisions that one request queued, and their states."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.graph import FitTally


class JobKind(StrEnum):
    INGEST = "ingest"
    DELETE = "delete"
    DROP = "drop"
    REINDEX = "reindex"
    RESTORE = "restore"


class JobState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        return self in {JobState.DONE, JobState.FAILED, JobState.CANCELLED}


@dataclass(frozen=True, kw_only=True)
class JobProgress:
    """How much of a job is done.

    `passages` are done of the `passages_total` of the documents that are cut so far: embedded, or, if a language model
    extracts, extracted. `bytes` of `bytes_total` counts the content of all documents; of a document that is being
    indexed, the share of its passages that is done. `seconds_left` is an estimate, None while there is none.
    """

    passages: int = 0
    passages_total: int = 0
    bytes: int = 0
    bytes_total: int = 0
    seconds_left: int | None = None


@dataclass(frozen=True, kw_only=True)
class JobAhead:
    """The documents that are indexed before a job begins: documents of its corpus that were submitted earlier, in the
    size class of its first document or a smaller class. `bytes` counts their content that is not indexed yet.
    """

    documents: int
    bytes: int


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job. `counts` are by revision state, with `unchanged` and `skipped` for submissions that made no revision.

    `started_at` is the time of the first claim, `finished_at` when the last revision became final; both are None
    before. `token_budget` is the number of model tokens that the job may use, including what was added when it was
    resumed; None is no limit. `calls` and the two counts of tokens are what it has used. `submitted_by` is the
    id of the key whose holder made the job; None without a key of the record. `ahead` is None once a document of the
    job was claimed. `fits` counts the facts of its documents by the schema that the corpus had when each was indexed,
    also the facts that a strict schema left out; None if no fact was compared with a schema.
    """

    id: str
    corpus_id: str
    corpus_name: str
    kind: JobKind
    state: JobState
    counts: Mapping[str, int]
    malformed_triples: int
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    token_budget: int | None = None
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    submitted_by: str | None = None
    progress: JobProgress = JobProgress()
    ahead: JobAhead | None = None
    fits: FitTally | None = None
    failures: tuple[tuple[str, str], ...] = field(default=())
    """The first failed documents: (key, reason)."""

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    @property
    def note(self) -> str | None:
        """Tells of the documents that failed; None if none did."""
        failed = self.counts.get("failed", 0)
        if not failed:
            return None
        asked = sum(count for state, count in self.counts.items() if state != "deleted" or self.kind is JobKind.DELETE)
        return (
            f"{failed:,} of {asked:,} {'document' if asked == 1 else 'documents'} failed; `failures` names the first "
            "of them with their reasons, and the documents in the state `failed` are all"
        )

    @property
    def settled(self) -> bool:
        """Whether the job does not change by itself: it has ended, or waits to be resumed."""
        return self.state.final or self.state is JobState.PAUSED


_RESULTS: Mapping[JobKind, tuple[str, ...]] = {
    JobKind.INGEST: ("indexed", "unchanged", "skipped"),
    JobKind.DELETE: ("deleted",),
}
"""The counts of what a job was made for, by kind. A job of another kind has a result only as a whole."""


def derive_job_state(kind: JobKind, counts: Mapping[str, int], *, cancelled: bool) -> JobState:
    """Returns the state of a job from the number of its revisions in each state.

    It is `failed` only if documents failed and there is no result: of a reindex, if any document failed.
    """
    if any(counts.get(s) for s in ("loading", "extracting", "writing", "deleting")):
        return JobState.RUNNING
    if counts.get("paused"):
        return JobState.PAUSED
    if counts.get("queued"):
        settled = any(counts.get(s) for s in ("indexed", "deleted", "failed"))
        return JobState.RUNNING if settled else JobState.QUEUED
    if kind not in _RESULTS and counts.get("failed"):  # what was not done yet was given up because of the failure
        return JobState.FAILED
    if cancelled:
        return JobState.CANCELLED
    has_result = any(counts.get(name) for name in _RESULTS.get(kind, ()))
    return JobState.FAILED if counts.get("failed") and not has_result else JobState.DONE
