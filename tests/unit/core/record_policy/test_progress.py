"""What counts as done of a job, and the estimate of the time that is left."""

from core.jobs import JobProgress
from core.record_policy.claims import MeasuredJob, RevisionProgress, measure_progress


def measure(
    *revisions: tuple[int, int, int], done: int = 0, total: int = 1000, seconds: float | None, silent: float = 0.0
) -> JobProgress:
    """Of a job that began at 100, reported after `seconds` (None: it does not run), and has been silent since."""
    in_work = [RevisionProgress(size=size, passages=n, done=part) for size, n, part in revisions]
    at = 100.0 + (seconds or 0.0)
    measured = MeasuredJob(bytes_total=total, bytes_done=done, passages=7, in_work=in_work, at=at)
    return measure_progress(measured, started_at=None if seconds is None else 100.0, now=at + silent)


def test_a_revision_in_work_counts_by_its_share() -> None:
    progress = measure((600, 3, 1), (0, 0, 0), done=300, seconds=10.0)
    assert progress == JobProgress(passages=8, passages_total=10, bytes=500, bytes_total=1000, seconds_left=10)


def test_the_time_that_is_left_runs_down_between_reports() -> None:
    left = [measure(done=500, seconds=10.0, silent=silent).seconds_left for silent in (0.0, 4.0, 60.0)]
    assert left == [10, 6, 1]


def test_nothing_is_estimated_from_little() -> None:
    assert measure(done=10, seconds=100.0).seconds_left is None
    assert measure(done=500, seconds=1.0).seconds_left is None
    assert measure(done=500, seconds=None).seconds_left is None
    assert measure(total=0, seconds=100.0).seconds_left is None


def test_more_is_done_than_was_counted() -> None:
    """A job of an older release."""
    progress = measure(done=500, total=0, seconds=None)
    assert (progress.bytes, progress.bytes_total) == (500, 500)
