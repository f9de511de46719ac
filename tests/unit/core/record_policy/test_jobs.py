"""The state of a job, and whether it can be cancelled."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.jobs import Job, JobKind, JobState
from core.record_policy.claims import is_cancellable, not_paused, state_of_job

JOB = Job(
    id="j",
    corpus_id="c",
    corpus_name="books",
    kind=JobKind.INGEST,
    state=JobState.RUNNING,
    counts={},
    malformed_triples=0,
    created_at=datetime(2024, 1, 1, tzinfo=UTC),
    started_at=None,
    finished_at=None,
)


@pytest.mark.parametrize(
    ("counts", "cancelled", "is_open", "is_started", "state"),
    [
        ({}, False, False, False, "done"),
        ({}, False, True, False, "queued"),
        ({}, True, False, False, "cancelled"),
        ({"indexed": 1}, False, False, True, "done"),
        ({"indexed": 1}, False, True, True, "running"),
        ({"failed": 1, "indexed": 1}, False, False, True, "done"),
        ({"failed": 1, "unchanged": 1}, False, False, True, "done"),
        ({"failed": 1, "skipped": 1}, False, False, True, "done"),
        ({"failed": 1, "deleted": 1}, False, False, True, "failed"),
        ({"failed": 1, "cancelled": 1}, False, False, True, "failed"),
        ({"failed": 1, "cancelled": 1}, True, False, True, "cancelled"),
        ({"failed": 2}, False, False, True, "failed"),
        ({"failed": 1}, False, True, True, "running"),
        ({"queued": 1}, False, True, False, "queued"),
        ({"queued": 1, "indexed": 1}, False, False, True, "running"),
        ({"paused": 1, "indexed": 1}, False, True, True, "paused"),
        ({"writing": 1, "paused": 1}, False, False, True, "running"),
        ({"unchanged": 2}, False, False, False, "done"),
    ],
)
def test_an_open_job_is_never_final(
    counts: dict[str, int], cancelled: bool, is_open: bool, is_started: bool, state: str
) -> None:
    found = state_of_job(JobKind.INGEST, counts, cancelled=cancelled, is_open=is_open, is_started=is_started)
    assert found == state


@pytest.mark.parametrize(
    ("kind", "counts", "state"),
    [
        (JobKind.DELETE, {"failed": 1, "deleted": 1}, "done"),
        (JobKind.DELETE, {"failed": 1}, "failed"),
        (JobKind.REINDEX, {"failed": 1, "indexed": 1}, "failed"),
        (JobKind.REINDEX, {"indexed": 1}, "done"),
        (JobKind.DROP, {"deleted": 1}, "done"),
    ],
)
def test_what_counts_as_a_result_depends_on_the_kind(kind: JobKind, counts: dict[str, int], state: str) -> None:
    assert state_of_job(kind, counts, cancelled=False, is_open=False, is_started=True) == state


def test_the_note_counts_the_failures() -> None:
    assert replace(JOB, counts={"indexed": 3}).note is None
    note = replace(JOB, counts={"indexed": 2_000, "failed": 3, "deleted": 1}).note
    assert note is not None
    assert note.startswith("3 of 2,003 documents failed;")
    assert (replace(JOB, counts={"failed": 1}).note or "").startswith("1 of 1 document failed;")
    deletion = replace(JOB, kind=JobKind.DELETE, counts={"failed": 1, "deleted": 3})
    assert (deletion.note or "").startswith("1 of 4 documents failed;")


@pytest.mark.parametrize(
    ("kind", "state", "expected"),
    [
        (JobKind.INGEST, JobState.RUNNING, True),
        (JobKind.DELETE, JobState.PAUSED, True),
        (JobKind.REINDEX, JobState.QUEUED, True),
        (JobKind.DROP, JobState.QUEUED, False),
        (JobKind.INGEST, JobState.DONE, False),
        (JobKind.INGEST, JobState.CANCELLED, False),
    ],
)
def test_final_jobs_and_deletions_of_corpora_are_not_cancelled(kind: JobKind, state: JobState, expected: bool) -> None:
    assert is_cancellable(replace(JOB, kind=kind, state=state)) is expected


def test_the_error_of_a_job_without_paused_revisions_names_its_state() -> None:
    assert str(not_paused(JOB)) == "job 'j' is running; only a paused job can be resumed"
