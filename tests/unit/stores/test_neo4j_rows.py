"""Rows of Neo4j as values, where several reads of one query see different states."""

from core.jobs import JobKind, JobState
from stores.neo4j.driver.rows import JOB_COUNTS, job_from_row


def test_a_revision_that_ends_while_its_progress_is_read_counts_as_not_in_work() -> None:
    row = {
        **{f"n_{state}": 0 for state in JOB_COUNTS},
        "id": "1",
        "corpus_id": "c",
        "corpus_name": "people",
        "kind": JobKind.INGEST,
        "state": JobState.RUNNING,
        "bytes": 30,
        "bytes_done": 10,
        "passages": 4,
        "created_at": 1.0,
        "open": False,
        "now": 9.0,
        "failures": [],
        "in_work": [[10, 4, 2], [10, 4, None], [10, None, None]],
    }
    progress = job_from_row(row).progress
    assert (progress.bytes, progress.passages, progress.passages_total) == (15, 6, 8)
