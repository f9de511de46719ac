"""The progress of an ingest in words."""

import pytest

from cli.output import progress as shown
from cli.output.progress import Progress, describe_progress
from core.jobs import JobProgress

HALF = JobProgress(passages=1200, passages_total=3400, bytes=900_000, bytes_total=2_300_000, seconds_left=40)


def test_documents_passages_and_bytes() -> None:
    counts = {"indexed": 2, "failed": 1, "queued": 30, "writing": 5}
    line = describe_progress(counts, HALF)
    assert line == "indexing: 3 of 38 documents (1 failed), 1,200 of 3,400 passages, 900.0 kB of 2.3 MB"
    assert describe_progress({"queued": 2}, JobProgress()) == "indexing: 0 of 2 documents"


@pytest.mark.parametrize(
    ("seconds", "left"), [(0, "0 s"), (89, "89 s"), (90, "2 min"), (3600, "60 min"), (9000, "2.5 h")]
)
def test_lines_without_a_terminal(
    seconds: int, left: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shown, "_EVERY_SECONDS", 0.0)
    with Progress() as progress:
        for _ in range(2):
            progress.watch_counts({"queued": 1}, JobProgress(bytes=1, bytes_total=2, seconds_left=seconds))
    assert capsys.readouterr().err == f"indexing: 0 of 1 documents, 1 byte of 2 bytes, about {left} left\n"
