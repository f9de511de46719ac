"""Moving and keeping by the command line: what is said, and the exit codes."""

import json
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Hopweave


@pytest.fixture
def people(hopweave: Hopweave, tmp_path: Path, worker: None) -> Path:  # noqa: ARG001 - it does the work
    """The folder that holds the corpus `people`."""
    source = tmp_path / "texts"
    source.mkdir()
    (source / "ada.txt").write_text("Ada Lovelace wrote the first program.", encoding="utf-8")
    (source / "北京.txt").write_text("北京大学位于北京。", encoding="utf-8")
    assert hopweave("ingest", source, "--corpus", "people").code == 0
    return tmp_path


def test_export_and_ingest_elsewhere(hopweave: Hopweave, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hopweave("export", "people", "--format", "jsonl", "-o", "people.jsonl").code == 0
    canonical = hopweave("export", "people", "--format", "jsonl", "--canonical").out
    monkeypatch.setenv("HOPWEAVE_DATA_DIR", str(people / "elsewhere"))
    ran = hopweave("ingest", "people.jsonl", "--corpus", "moved", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["corpus"] == {
        "name": "moved",
        "documents": 2,
        "unchanged": 0,
        "chunks": 2,
        "embedded": 0,
        "missing_originals": 0,
        "notes": [],
    }
    assert hopweave("export", "moved", "--format", "jsonl", "--canonical").out == canonical
    again = hopweave("ingest", "people.jsonl", "--corpus", "moved")
    assert (again.code, again.out) == (0, "corpus moved: 0 documents, 0 passages, 2 unchanged\n")


@pytest.mark.usefixtures("people")
def test_what_an_exported_corpus_has_no_room_for(hopweave: Hopweave) -> None:
    assert hopweave("export", "people", "--format", "jsonl", "-o", "people.jsonl").code == 0
    ran = hopweave("ingest", "people.jsonl", "--corpus", "other", "--prune", "--dry-run")
    assert (ran.code, ran.out) == (2, "")
    assert "leave --prune, --dry-run out" in ran.err
    ran = hopweave("ingest", "people.jsonl", "texts", "--corpus", "other")
    assert ran.code == 2
    assert "ingest it alone" in ran.err
    ran = hopweave("ingest", "people.jsonl", "--corpus", "other", "--extractor", "given")
    assert ran.code == 1
    assert ran.err == (
        "hopweave: people.jsonl was written with extractor pattern, not given: leave the option out; "
        "to change it, reindex the corpus afterwards\n"
    )


@pytest.mark.usefixtures("people")
def test_backup_and_restore(hopweave: Hopweave) -> None:
    canonical = hopweave("export", "people", "--format", "jsonl", "--canonical").out
    ran = hopweave("backup", "all.backup")
    assert (ran.code, ran.out) == (0, "corpus people: 2 documents, 2 passages, 2 vectors\n")
    assert "all.backup: " in ran.err
    taken = hopweave("restore", "all.backup", "--as", "people")
    assert (taken.code, taken.out) == (0, "corpus people: 0 documents, 0 passages, 2 unchanged\n")
    ran = hopweave("restore", "all.backup", "--only", "people", "--as", "copy", "--json")
    assert ran.code == 0, ran.err
    assert [one["documents"] for one in ran.json["corpora"]] == [2]
    assert hopweave("export", "copy", "--format", "jsonl", "--canonical").out == canonical
    assert "restoring-" not in hopweave("corpora", "list").out


def test_complaints(hopweave: Hopweave, people: Path) -> None:
    ran = hopweave("restore", "none.backup")
    assert (ran.code, ran.err) == (1, "hopweave: there is no file none.backup; check the path\n")
    assert hopweave("backup", "all.backup", "--json").json["corpora"][0]["missing_vectors"] == 0
    (people / "texts" / "new.txt").write_text("New.", encoding="utf-8")
    assert hopweave("ingest", "texts", "--corpus", "people").code == 0
    ran = hopweave("restore", "all.backup")
    assert ran.code == 1
    assert ran.err.startswith("hopweave: there is a corpus 'people' already, with other content; nothing was written")
    assert hopweave("restore", "all.backup", "--replace").code == 0
    content = (people / "all.backup").read_bytes()
    (people / "all.backup").write_bytes(content[:-40])
    ran = hopweave("restore", "all.backup", "--as", "cut")
    assert ran.code == 1
    assert ran.err.count("\n") == 1
    passage = people / "passages.jsonl"
    passage.write_text(json.dumps({"id": "a", "text": "No corpus, but a passage.", "kind": "corpus"}), encoding="utf-8")
    assert hopweave("ingest", passage, "--corpus", "plain").code == 0
