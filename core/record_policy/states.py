"""Groups of revision states, and the reasons that the record gives for a cancelled revision."""

from core.documents import RevisionState

__all__ = [
    "CORPUS_DELETED",
    "JOB_CANCELLED",
    "RETRIABLE",
    "STOPPABLE",
    "SUPERSEDED",
    "UNFINISHED",
    "WORKING",
]

WORKING = tuple(state.value for state in RevisionState if state.in_work)
"""A worker holds, or held, a lease."""

UNFINISHED = (RevisionState.QUEUED.value, *WORKING)
"""A worker will finish the revision without being told to."""

STOPPABLE = (*UNFINISHED, RevisionState.PAUSED.value)
"""The revision is not final: it can be cancelled, and its job has not ended."""

RETRIABLE = (RevisionState.FAILED.value, RevisionState.CANCELLED.value)
"""The revision ended without a result, and can be queued again."""

SUPERSEDED = "superseded"
CORPUS_DELETED = "the corpus was deleted"
JOB_CANCELLED = "the job was cancelled"
