"""The state of a job, and whether it can be cancelled."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.jobs import Job, JobKind, JobState
from core.record_policy.jobs import is_cancellable, not_paused, state_of_job

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
        ({"failed": 1, "indexed": 1}, False, False, True, "failed"),
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
    assert state_of_job(counts, cancelled=cancelled, is_open=is_open, is_started=is_started) == state


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
