"""Rules of submissions: what becomes of a submission, decided by the newest revision of its document.

First come groups of revision states, and the reasons that the record gives for a cancelled revision. The end is about
receipts: what an `Idempotency-Key` that was used before means.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from core.documents import OnConflict, RevisionState
from core.errors import Conflict, InvalidInput, KeysExist
from core.ids import document_id
from core.ports.record.queue import EnqueuedDocument, NewRevision
from core.principals import DocumentAccess, narrow

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

_SHOWN_KEYS = 10
_SHOWN_REPEATED_KEYS = 5


class SubmissionOutcome(Enum):
    """The outcome of a submission."""

    UNCHANGED = auto()
    """The newest revision is the same, and final: nothing is written."""
    SAME_UNFINISHED = auto()
    """The newest revision is the same, and unfinished: it moves to the job of the submission."""
    SKIPPED = auto()
    """The document exists, and `on_conflict` is `skip`: nothing is written."""
    NEW = auto()
    """The submission becomes the first revision of a document, or follows a final revision."""
    SUPERSEDES = auto()
    """The submission becomes a revision, and the unfinished newest revision is cancelled."""

    @property
    def makes_revision(self) -> bool:
        return self in (SubmissionOutcome.NEW, SubmissionOutcome.SUPERSEDES)


@dataclass(frozen=True, kw_only=True)
class NewestRevision:
    """The newest revision of a document. `hidden`: a deletion of the document was accepted, and is not undone yet.

    `access` is the access of the document now, `pending` the access that it gets when the revision is current (None:
    the revision names none, or is current).
    """

    state: RevisionState
    fingerprint: str
    deletion: bool
    hidden: bool
    access: DocumentAccess = None
    pending: DocumentAccess = None


@dataclass(frozen=True, kw_only=True)
class SubmissionDecision:
    """An outcome, and the document as `Submissions.enqueue` reports it."""

    outcome: SubmissionOutcome
    document: EnqueuedDocument


def decide_submission(
    revision: NewRevision, newest: NewestRevision | None, on_conflict: OnConflict
) -> SubmissionDecision:
    """Decides what becomes of a submission. `newest` is None if there is no document with its key."""
    outcome = _decide(revision.fingerprint, newest, on_conflict)
    state = RevisionState.QUEUED if newest is None or outcome.makes_revision else newest.state
    document = EnqueuedDocument(
        id=document_id(revision.key),
        key=revision.key,
        state=state,
        unchanged=outcome is SubmissionOutcome.UNCHANGED,
        skipped=outcome is SubmissionOutcome.SKIPPED,
    )
    return SubmissionDecision(outcome=outcome, document=document)


def _decide(fingerprint: str, newest: NewestRevision | None, on_conflict: OnConflict) -> SubmissionOutcome:
    if newest is None:
        return SubmissionOutcome.NEW
    if _is_same(newest, fingerprint):
        return SubmissionOutcome.UNCHANGED if newest.state.final else SubmissionOutcome.SAME_UNFINISHED
    if on_conflict is OnConflict.SKIP and not newest.hidden:
        return SubmissionOutcome.SKIPPED
    return SubmissionOutcome.SUPERSEDES if newest.state in STOPPABLE else SubmissionOutcome.NEW


@dataclass(frozen=True, kw_only=True)
class AccessDecision:
    """The access of a document at once, and the access that it gets when its newest revision is current (None: the same
    as now).
    """

    document: DocumentAccess
    pending: DocumentAccess


def decide_access(outcome: SubmissionOutcome, named: DocumentAccess, newest: NewestRevision | None) -> AccessDecision:
    """Decides who may see a document after a submission that names an access, or None.

    Whoever loses a document by it loses it at once; whoever gains it gains it with the new revision, so nobody sees a
    former content who could not see it before. The access that an unfinished revision named is kept only for its own
    content: if another content takes its place, or comes after it has failed or was cancelled, and names none, nobody
    gains the document. A submission during a deletion makes a new document.
    """
    if newest is None or (newest.deletion and outcome.makes_revision):
        return AccessDecision(document=named, pending=named)
    if outcome is SubmissionOutcome.SKIPPED:
        return AccessDecision(document=newest.access, pending=newest.pending)
    if outcome is SubmissionOutcome.UNCHANGED:
        return AccessDecision(document=newest.access if named is None else named, pending=None)
    kept = None if outcome.makes_revision else newest.pending
    pending = kept if named is None else named
    return AccessDecision(document=narrow(newest.access, pending), pending=pending)


def _is_same(newest: NewestRevision, fingerprint: str) -> bool:
    return newest.fingerprint == fingerprint and newest.state not in RETRIABLE and not newest.deletion


def is_being_deleted(newest: NewestRevision) -> bool:
    """Whether a deletion of the document is queued or in work, so that nothing is left to be deleted.

    A document whose deletion was superseded by a submission is hidden until that is indexed, and can be deleted again.
    """
    return newest.hidden and newest.deletion and newest.state in STOPPABLE


def is_visible(newest: NewestRevision) -> bool:
    """Whether the document is listed: unless it is being deleted, or could not be.

    A submission during the deletion is a new document with the submission's title, metadata and content. It is not
    readable: readers see nothing of the document that is deleted.
    """
    return not (newest.hidden and newest.deletion)


def is_unchanged(newest: NewestRevision, fingerprint: str) -> bool:
    """Whether `decide_submission` would find a submission with this fingerprint unchanged."""
    return _is_same(newest, fingerprint) and newest.state.final


def is_conflict(newest: NewestRevision, fingerprint: str) -> bool:
    """Whether `on_conflict=error` refuses a submission: the document exists, and its newest revision is another, or
    failed or was cancelled.
    """
    return not newest.hidden and not _is_same(newest, fingerprint)


def check_distinct_keys(revisions: Sequence[NewRevision]) -> None:
    """Raises `InvalidInput`, naming the keys that are given more than once."""
    repeated = [key for key, count in Counter(revision.key for revision in revisions).items() if count > 1]
    if repeated:
        shown = ", ".join(repr(key) for key in repeated[:_SHOWN_REPEATED_KEYS])
        raise InvalidInput(
            f"the key {shown} was given more than once in one call; keys name documents, so give each its own"
        )


def keys_exist(keys: Sequence[str]) -> KeysExist:
    """Returns the error of `on_conflict=error`; `keys` are the keys of the submissions that `is_conflict` names."""
    more = f" and {len(keys) - _SHOWN_KEYS} more" if len(keys) > _SHOWN_KEYS else ""
    shown = ", ".join(keys[:_SHOWN_KEYS])
    return KeysExist(f"documents with these keys exist already: {shown}{more}; nothing was written", keys)


def check_amendable(key: str, state: str) -> None:
    """Raises `Conflict` unless the newest revision of a document is indexed."""
    if state != RevisionState.INDEXED:
        raise Conflict(
            f"document {key!r} is {state}; only an indexed one can be changed; wait for its job, or retry it"
        )


def check_retriable(key: str, state: str) -> None:
    """Raises `Conflict` unless the newest revision of a document failed or was cancelled."""
    if state not in RETRIABLE:
        raise Conflict(f"document {key!r} is {state}; only failed or cancelled ones can be retried")


RECEIPT_SECONDS = 24 * 3600.0
"""How long a receipt is kept."""


@dataclass(frozen=True, kw_only=True)
class PresentReceipt:
    """A receipt. `answer` is None while the request is carried out; `age` is in seconds."""

    request: str
    answer: str | None
    age: float


def has_answer(present: PresentReceipt | None, request: str, lease_seconds: float) -> bool:
    """Returns whether the key holds the answer of this request; if not, the caller reserves it.

    Raises `InvalidInput` and `Conflict` as `Receipts.begin` does.
    """
    if present is None or present.age > RECEIPT_SECONDS:
        return False
    if present.request != request:
        raise InvalidInput("this `Idempotency-Key` was used for another request; give each request a key of its own")
    if present.answer is not None:
        return True
    if present.age <= lease_seconds:
        raise Conflict("the request with this `Idempotency-Key` is being carried out; send it again in some seconds")
    return False
