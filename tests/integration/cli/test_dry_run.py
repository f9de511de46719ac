"""`hopweave ingest --dry-run`."""

from pathlib import Path

import pytest

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
        "notes": [],
    }
    assert ran.json["tokens"] > 10
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("extractor", ["llm", "pattern+llm:attempts=1"])
def test_an_extractor_that_asks_a_model_is_estimated_without_one(
    hopweave: Hopweave, papers: Path, tmp_path: Path, extractor: str
) -> None:
    ran = hopweave("ingest", papers, "-c", "p", "--dry-run", "--extractor", extractor, "--json")
    assert ran.code == 0, ran.err
    assert ran.json["model"]["calls"] == 2
    assert ran.json["model"]["prompt_tokens"] > 200
    assert not (tmp_path / "data").exists()
    ran = hopweave("ingest", papers, "-c", "p", "--extractor", extractor)
    assert ran.code == 2
    assert "HOPWEAVE_LLM__MODEL" in ran.err


def test_what_would_fail_is_told(hopweave: Hopweave, papers: Path) -> None:
    (papers / "broken.txt").write_bytes(b"%PDF-1.7")
    ran = hopweave("ingest", papers, "-c", "p", "--dry-run")
    assert ran.code == 0
    assert "2 documents" in ran.out
    assert "broken.txt" in ran.err
    assert hopweave("ingest", papers, "-c", "p", "--dry-run", "--strict").code == 1
