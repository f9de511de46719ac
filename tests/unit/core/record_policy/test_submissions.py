"""What becomes of a submission, by the newest revision of its document."""

import pytest

from core.documents import OnConflict, RevisionState
from core.errors import Conflict, InvalidInput
from core.ids import document_id
from core.ports.record import NewRevision
from core.record_policy.submissions import (
    Newest,
    SubmissionVerdict,
    check_distinct_keys,
    check_retriable,
    is_unchanged,
    judge,
    keys_exist,
)

REPLACE, SKIP = OnConflict.REPLACE, OnConflict.SKIP


def submission(key: str = "a", fingerprint: str = "same") -> NewRevision:
    return NewRevision(
        key=key, media_type="text/plain", content_hash="c", size=1, fingerprint=fingerprint, title=None, metadata={}
    )


def newest(state: str, fingerprint: str = "same", *, deletion: bool = False, hidden: bool = False) -> Newest:
    return Newest(state=RevisionState(state), fingerprint=fingerprint, deletion=deletion, hidden=hidden)


@pytest.mark.parametrize(
    ("before", "on_conflict", "verdict", "state"),
    [
        (None, REPLACE, SubmissionVerdict.NEW, "queued"),
        (None, SKIP, SubmissionVerdict.NEW, "queued"),
        (newest("indexed"), REPLACE, SubmissionVerdict.UNCHANGED, "indexed"),
        (newest("indexed"), SKIP, SubmissionVerdict.UNCHANGED, "indexed"),
        (newest("queued"), REPLACE, SubmissionVerdict.SAME_UNFINISHED, "queued"),
        (newest("extracting"), SKIP, SubmissionVerdict.SAME_UNFINISHED, "extracting"),
        (newest("paused"), REPLACE, SubmissionVerdict.SAME_UNFINISHED, "paused"),
        (newest("failed"), REPLACE, SubmissionVerdict.NEW, "queued"),
        (newest("cancelled"), REPLACE, SubmissionVerdict.NEW, "queued"),
        (newest("failed"), SKIP, SubmissionVerdict.SKIPPED, "failed"),
        (newest("indexed", "other"), REPLACE, SubmissionVerdict.NEW, "queued"),
        (newest("indexed", "other"), SKIP, SubmissionVerdict.SKIPPED, "indexed"),
        (newest("writing", "other"), REPLACE, SubmissionVerdict.SUPERSEDES, "queued"),
        (newest("paused", "other"), REPLACE, SubmissionVerdict.SUPERSEDES, "queued"),
        (newest("writing", "other"), SKIP, SubmissionVerdict.SKIPPED, "writing"),
        (newest("queued", "", deletion=True, hidden=True), REPLACE, SubmissionVerdict.SUPERSEDES, "queued"),
        (newest("deleting", "", deletion=True, hidden=True), SKIP, SubmissionVerdict.SUPERSEDES, "queued"),
        (newest("queued", deletion=True, hidden=True), REPLACE, SubmissionVerdict.SUPERSEDES, "queued"),
    ],
)
def test_the_verdict_follows_from_the_newest_revision(
    before: Newest | None, on_conflict: OnConflict, verdict: SubmissionVerdict, state: str
) -> None:
    judgement = judge(submission(), before, on_conflict)
    assert judgement.verdict is verdict
    document = judgement.document
    assert (document.id, document.key, document.state) == (document_id("a"), "a", state)
    assert document.unchanged == (verdict is SubmissionVerdict.UNCHANGED)
    assert document.skipped == (verdict is SubmissionVerdict.SKIPPED)
    assert verdict.makes_revision == (verdict in {SubmissionVerdict.NEW, SubmissionVerdict.SUPERSEDES})


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
def test_unchanged_is_the_same_and_final(before: Newest, expected: bool) -> None:
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
