"""What waits for a job says of a worker that waits itself, such as for room on the disk."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.supervision import supervision
from app.supervision.folder_lock import FolderLock, Holder, is_held, read_holder
from app.supervision.supervision import LocalJobWatch
from core.jobs import Job, JobKind, JobState

JOB = Job(
    id="j",
    corpus_id="c",
    corpus_name="c",
    kind=JobKind.INGEST,
    state=JobState.RUNNING,
    counts={"queued": 1},
    malformed_triples=0,
    created_at=datetime.now(UTC),
    started_at=None,
    finished_at=None,
)
FULL = "the record cannot be used: database or disk is full"


def test_why_the_worker_waits_is_told_once_and_again_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, reason = [1000.0], [""]
    monkeypatch.setattr(supervision.time, "monotonic", lambda: now[0])
    watch = LocalJobWatch(lambda: Holder(pid=1, silent_seconds=0, waits_for=reason[0]), tmp_path / "worker.log")
    assert (watch.handle_state(JOB), watch.is_waiting) == ("", False)
    reason[0] = FULL
    assert (watch.handle_state(JOB), watch.is_waiting) == (f"{FULL}; waiting, and nothing is lost", True)
    assert (watch.handle_state(JOB), watch.is_waiting) == ("", True)
    reason[0] = ""  # it tries again
    assert (watch.handle_state(JOB), watch.is_waiting) == ("", False)
    reason[0] = FULL
    assert watch.handle_state(JOB) == ""
    now[0] += 61
    assert FULL in watch.handle_state(JOB)
    reason[0] = "the model does not answer"
    assert reason[0] in watch.handle_state(JOB)


def test_the_lock_tells_why_its_holder_waits(tmp_path: Path) -> None:
    """The file is written in place, so that a full disk has room for the reason."""
    with FolderLock(tmp_path) as lock:
        path = tmp_path / "worker.json"
        before = path.stat()
        for reason, read in ((FULL, FULL), ("ü" * 9_000, "ü" * 500), ("", "")):
            lock.report_waiting(reason)
            holder = read_holder(tmp_path)
            assert holder is not None
            assert holder.waits_for == read
            assert (path.stat().st_ino, path.stat().st_size) == (before.st_ino, before.st_size)
        assert is_held(tmp_path)
