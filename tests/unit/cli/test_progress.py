"""The progress of an ingest in words."""

from pathlib import Path
from typing import Any

import pytest

from cli.flows.reading import PathsReading, Request
from cli.output import progress as shown
from cli.output.progress import Progress, describe_ahead, describe_left, describe_progress
from core.documents import OnConflict
from core.jobs import JobAhead, JobProgress

HALF = JobProgress(passages=1200, passages_total=3400, bytes=900_000, bytes_total=2_300_000, seconds_left=40)


def test_documents_passages_and_bytes_and_a_share_below_100_until_all_are_done() -> None:
    counts = {"indexed": 2, "failed": 1, "queued": 30, "writing": 5}
    line = describe_progress(counts, HALF)
    assert line == "indexing: 39 %, 3 of 38 documents (1 failed), 1,200 of 3,400 passages, 900.0 kB of 2.3 MB"
    assert describe_progress({"queued": 2}, JobProgress()) == "indexing: 0 %, 0 of 2 documents"
    embedded = JobProgress(passages=4, passages_total=4, bytes=1000, bytes_total=1000)
    assert describe_progress({"writing": 1}, embedded).startswith("indexing: 99 %, 0 of 1 documents")
    assert describe_progress({"indexed": 1}, embedded).startswith("indexing: 100 %, 1 of 1 documents")


def test_what_is_left_and_what_is_ahead() -> None:
    assert describe_left({"indexed": 2, "queued": 30, "writing": 5}, HALF) == "35 documents, 1.4 MB are left"
    assert describe_left({"indexed": 1}, HALF) == ""
    assert describe_ahead(JobAhead(documents=3, bytes=41_000_000)) == "3 documents, 41.0 MB ahead of it"
    assert describe_ahead(JobAhead(documents=1, bytes=10)) == "1 document, 10 bytes ahead of it"
    assert describe_ahead(JobAhead(documents=0, bytes=0)) == describe_ahead(None) == ""


def test_a_queued_job_tells_what_is_ahead(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(shown, "_EVERY_SECONDS", 0.0)
    with Progress() as progress:
        assert progress.left == ""
        ahead = JobAhead(documents=3, bytes=41_000_000)
        progress.watch_counts({"queued": 1}, JobProgress(bytes_total=2), ahead=ahead)
    assert capsys.readouterr().err == (
        "indexing: 0 %, 0 of 1 documents, 0 bytes of 2 bytes, 3 documents, 41.0 MB ahead of it\n"
    )
    assert progress.left == "; 1 document, 2 bytes are left"


@pytest.mark.parametrize(
    ("seconds", "left"), [(0, "0 s"), (89, "89 s"), (90, "2 min"), (3600, "60 min"), (9000, "2.5 h")]
)
def test_lines_without_a_terminal(
    seconds: int, left: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shown, "_EVERY_SECONDS", 0.0)
    halfway = JobProgress(bytes=1, bytes_total=2, seconds_left=seconds)
    for is_waiting, told in ((False, f"about {left} left"), (True, "waiting")):  # no time is left while it waits
        with Progress() as progress:
            for _ in range(2):
                progress.watch_counts({"queued": 1}, halfway, is_waiting=is_waiting)
        assert capsys.readouterr().err == f"indexing: 50 %, 0 of 1 documents, 1 byte of 2 bytes, {told}\n"


def test_reading_says_how_long_the_rest_of_the_file_takes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shown, "_EVERY_SECONDS", 0.0)
    clock = iter(range(1000, 2000, 100))
    monkeypatch.setattr(shown.time, "monotonic", lambda: float(next(clock)))
    with Progress() as progress:  # begins at 1000, and each look at the clock takes 100 s
        progress.show_submitted(1_000_000, 0.25)
        progress.show_submitted(4_000_000, 1.0)
        progress.show_submitted(5_000_000)
    assert capsys.readouterr().err.splitlines() == [
        "reading: 1,000,000 documents, about 5 min left",
        "reading: 4,000,000 documents",
        "reading: 5,000,000 documents",
    ]


def test_the_share_of_a_table_that_was_read(tmp_path: Path) -> None:
    table = tmp_path / "a.tsv"
    table.write_text("id\ttext\ttitle\n" + "".join(f"{n}\t{'word ' * 40}\tTitle {n}\n" for n in range(1, 101)))
    (tmp_path / "note.txt").write_text("A note.")
    reading = PathsReading(_request(table))
    shares = [reading.share for _ in reading.read(with_given=False)]
    assert shares == sorted(share for share in shares if share is not None)
    assert shares[49] == pytest.approx(0.5, abs=0.1)
    for path in (tmp_path, tmp_path / "note.txt"):
        reading = PathsReading(_request(path))
        assert {reading.share for _ in reading.read(with_given=False)} == {None}


def _request(path: Path) -> Request:
    chosen: dict[str, Any] = dict.fromkeys(("extractor", "chunker", "fine"))
    return Request(paths=(path,), corpus="c", on_conflict=OnConflict.REPLACE, prune=False, **chosen)


def test_stages_without_a_terminal_print_a_line_only_if_it_changes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shown, "_LINE_SECONDS", -1.0)
    with shown.stages() as report:
        for stage, done in (("indexing", 0), ("indexing", 0), ("indexing (why)", 0), ("indexing", 1), ("indexing", 1)):
            report(stage, done, 1971)
    assert capsys.readouterr().err.splitlines() == [
        "indexing: 0 of 1971",
        "indexing (why): 0 of 1971",
        "indexing: 1 of 1971",
    ]
