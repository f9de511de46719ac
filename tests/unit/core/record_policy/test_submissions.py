"""What becomes of a submission, by the newest revision of its document."""

import pytest

from core.documents import OnConflict, RevisionState
from core.errors import Conflict, InvalidInput
from core.ids import document_id
from core.ports.record import NewRevision
from core.record_policy.submissions import (
    NewestRevision,
    SubmissionOutcome,
    check_distinct_keys,
    check_retriable,
    decide_submission,
    is_unchanged,
    keys_exist,
)

REPLACE, SKIP = OnConflict.REPLACE, OnConflict.SKIP


def submission(key: str = "a", fingerprint: str = "same") -> NewRevision:
    return NewRevision(
        key=key, media_type="text/plain", content_hash="c", size=1, fingerprint=fingerprint, title=None, metadata={}
    )


def newest(state: str, fingerprint: str = "same", *, deletion: bool = False, hidden: bool = False) -> NewestRevision:
    return NewestRevision(state=RevisionState(state), fingerprint=fingerprint, deletion=deletion, hidden=hidden)


@pytest.mark.parametrize(
    ("before", "on_conflict", "outcome", "state"),
    [
        (None, REPLACE, SubmissionOutcome.NEW, "queued"),
        (None, SKIP, SubmissionOutcome.NEW, "queued"),
        (newest("indexed"), REPLACE, SubmissionOutcome.UNCHANGED, "indexed"),
        (newest("indexed"), SKIP, SubmissionOutcome.UNCHANGED, "indexed"),
        (newest("queued"), REPLACE, SubmissionOutcome.SAME_UNFINISHED, "queued"),
        (newest("extracting"), SKIP, SubmissionOutcome.SAME_UNFINISHED, "extracting"),
        (newest("paused"), REPLACE, SubmissionOutcome.SAME_UNFINISHED, "paused"),
        (newest("failed"), REPLACE, SubmissionOutcome.NEW, "queued"),
        (newest("cancelled"), REPLACE, SubmissionOutcome.NEW, "queued"),
        (newest("failed"), SKIP, SubmissionOutcome.SKIPPED, "failed"),
        (newest("indexed", "other"), REPLACE, SubmissionOutcome.NEW, "queued"),
        (newest("indexed", "other"), SKIP, SubmissionOutcome.SKIPPED, "indexed"),
        (newest("writing", "other"), REPLACE, SubmissionOutcome.SUPERSEDES, "queued"),
        (newest("paused", "other"), REPLACE, SubmissionOutcome.SUPERSEDES, "queued"),
        (newest("writing", "other"), SKIP, SubmissionOutcome.SKIPPED, "writing"),
        (newest("queued", "", deletion=True, hidden=True), REPLACE, SubmissionOutcome.SUPERSEDES, "queued"),
        (newest("deleting", "", deletion=True, hidden=True), SKIP, SubmissionOutcome.SUPERSEDES, "queued"),
        (newest("queued", deletion=True, hidden=True), REPLACE, SubmissionOutcome.SUPERSEDES, "queued"),
    ],
)
def test_the_verdict_follows_from_the_newest_revision(
    before: NewestRevision | None, on_conflict: OnConflict, outcome: SubmissionOutcome, state: str
) -> None:
    decision = decide_submission(submission(), before, on_conflict)
    assert decision.outcome is outcome
    document = decision.document
    assert (document.id, document.key, document.state) == (document_id("a"), "a", state)
    assert document.unchanged == (outcome is SubmissionOutcome.UNCHANGED)
    assert document.skipped == (outcome is SubmissionOutcome.SKIPPED)
    assert outcome.makes_revision == (outcome in {SubmissionOutcome.NEW, SubmissionOutcome.SUPERSEDES})


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (newest("indexed"), True),
        (newest("indexed", "other"), False),
        (newest("queued"), False),
        (newest("failed"), False),
        (newest("deleted", deletion=True), False),
    ],
)
def test_unchanged_is_the_same_and_final(before: NewestRevision, expected: bool) -> None:
    assert is_unchanged(before, "same") is expected


def test_keys_that_come_twice_are_named() -> None:
    check_distinct_keys([submission("a"), submission("b")])
    with pytest.raises(InvalidInput, match="the key 'b' was given more than once"):
        check_distinct_keys([submission("a"), submission("b"), submission("b")])


@pytest.mark.parametrize(
    ("keys", "shown"),
    [(["a", "b"], "already: a, b; nothing"), ([f"k{i}" for i in range(12)], "k8, k9 and 2 more; nothing was written")],
)
def test_existing_keys_are_listed_up_to_ten(keys: list[str], shown: str) -> None:
    assert shown in str(keys_exist(keys))


@pytest.mark.parametrize("state", ["queued", "loading", "paused", "indexed", "deleted"])
def test_only_failed_and_cancelled_revisions_are_retried(state: str) -> None:
    check_retriable("a", "failed")
    check_retriable("a", "cancelled")
    with pytest.raises(Conflict, match=f"document 'a' is {state}; only failed or cancelled"):
        check_retriable("a", state)
