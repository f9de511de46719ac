"""`hopweave ingest --dry-run`."""

from pathlib import Path

from tests.integration.cli.conftest import Hopweave


def test_counts_and_writes_nothing(hopweave: Hopweave, papers: Path, tmp_path: Path) -> None:
    ran = hopweave("ingest", papers, "-c", "p", "--dry-run", "--json")
    assert ran.code == 0, ran.err
    size = sum(path.stat().st_size for path in papers.iterdir())
    assert ran.json == {
        "corpus": "p",
        "dry_run": True,
        "documents": 2,
        "unchanged": 0,
        "bytes": size,
        "chunks": 2,
        "tokens": ran.json["tokens"],
        "model": None,
        "rejected": [],
    }
    assert ran.json["tokens"] > 10
    assert not (tmp_path / "data").exists()


def test_what_would_fail_is_told(hopweave: Hopweave, papers: Path) -> None:
    (papers / "broken.txt").write_bytes(b"\xff")
    ran = hopweave("ingest", papers, "-c", "p", "--dry-run")
    assert ran.code == 1
    assert "2 documents" in ran.out
    assert "broken.txt" in ran.err
