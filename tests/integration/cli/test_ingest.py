"""`hopweave ingest`: what is indexed, what is said, and how it ends."""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.documents import make_mail
from tests.integration.cli.conftest import Hopweave

pytestmark = pytest.mark.usefixtures("worker")


def test_summary_as_json_is_all_there_is_on_stdout(hopweave: Hopweave, papers: Path) -> None:
    first = hopweave("ingest", papers, "--corpus", "p", "--json")
    assert first.code == 0, first.err
    nothing = dict.fromkeys(("unchanged", "skipped", "failed", "cancelled", "paused"), 0)
    assert first.json["documents"] == {"indexed": 2, **nothing}
    assert first.json["chunks"] == 2
    assert first.json["job"]["state"] == "done"
    assert first.json["rejected"] == []
    again = hopweave("ingest", papers, "--corpus", "p", "--json")
    assert again.json["documents"]["unchanged"] == 2
    assert again.json["chunks"] == 0


def test_what_is_rejected_or_fails_is_told_and_the_rest_indexed(hopweave: Hopweave, papers: Path) -> None:
    ran = hopweave("ingest", papers, "-c", "p")
    assert ran.code == 0
    assert ran.out.startswith("corpus p: 2 indexed\n2 passages in ")
    (papers / "photo.png").write_bytes(b"?")
    (papers / "broken.txt").write_bytes(b"%PDF-1.7")
    (papers / "new.txt").write_text("A new text.", encoding="utf-8")
    (papers / "plan.eml").write_bytes(make_mail())
    dry = hopweave("ingest", papers, "-c", "p", "--dry-run")
    assert (dry.code, "5 documents" in dry.out, "broken.txt" in dry.err) == (0, True, True)
    ran = hopweave("ingest", papers, "-c", "p", "-v")
    assert ran.code == 0
    assert "3 indexed, 2 unchanged, 1 failed, 1 rejected" in ran.out
    for line in ("new.txt: 1 passage, ", "plan.eml: 1 passage, ", "plan.eml/attachments/plan.txt: 1 passage, "):
        assert ran.err.count(f"indexed: {line}") == 1
    assert "indexed: ada.txt" not in ran.err, "it is unchanged"
    assert ran.err.count("failed: broken.txt: 'broken.txt' is a PDF file, not text") == 1
    assert ran.err.count("rejected: photo.png: ") == 1
    assert hopweave("ingest", papers, "-c", "p", "--strict").code == 1
    assert hopweave("ingest", papers, "-c", "p", "--dry-run", "--strict").code == 1


def test_a_dry_run_counts_and_writes_nothing(hopweave: Hopweave, papers: Path) -> None:
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
    assert hopweave("corpora", "list", "--json").json["data"] == []


def test_nothing_that_can_be_used_is_an_error(hopweave: Hopweave, tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(b"?")
    assert hopweave("ingest", tmp_path / "photo.png", "-c", "p").code == 1
    (tmp_path / "broken.txt").write_bytes(b"%PDF-1.7")
    assert hopweave("ingest", tmp_path / "broken.txt", "-c", "p").code == 1
    assert hopweave("ingest", tmp_path / "broken.txt", "-c", "p", "--dry-run").code == 1


def test_a_guessed_encoding_is_told(hopweave: Hopweave, papers: Path) -> None:
    (papers / "old.txt").write_bytes("Die Straße führt über eine schöne, alte Brücke am Fluß.".encode("latin-1"))
    assert "note: old.txt: read as Windows-1252" in hopweave("ingest", papers, "-c", "p", "--dry-run").err
    ran = hopweave("ingest", papers, "-c", "p")
    assert ran.code == 0
    note = "read as Windows-1252, which is a guess: the file is not UTF-8"
    assert f"note: old.txt: {note}" in ran.err
    shown = hopweave("documents", "show", "old.txt", "-c", "p", "--json")
    assert shown.json["metadata"] == {"loader_notes": [note]}
    again = hopweave("ingest", papers, "-c", "p", "--json")
    assert (again.json["documents"]["unchanged"], again.json["notes"]) == (3, [])


def test_prune_deletes_what_is_gone_and_names_it(hopweave: Hopweave, papers: Path) -> None:
    for number in range(7):
        (papers / f"old{number}.txt").write_text(f"Old {number}.", encoding="utf-8")
    hopweave("ingest", papers, "-c", "p")
    for number in range(7):
        (papers / f"old{number}.txt").unlink()
    assert hopweave("ingest", papers, "-c", "p", "--json").json["pruned"] is None
    ran = hopweave("ingest", papers, "-c", "p", "--prune")
    assert "pruned: old0.txt, old1.txt, old2.txt, old3.txt, old4.txt and 2 more" in ran.err
    assert keys(hopweave) == {"ada.txt", "engine.md"}
    assert "pruned:" not in hopweave("ingest", papers, "-c", "p", "--prune").err
    for file in papers.iterdir():
        file.unlink()
    kept = hopweave("ingest", papers, "-c", "p")
    assert (kept.code, "there is no document in" in kept.err) == (1, True)
    pruned = hopweave("ingest", papers, "-c", "p", "--prune")
    assert (pruned.code, pruned.out.strip()) == (0, "corpus p: 0 indexed, 2 pruned"), pruned.err
    assert keys(hopweave) == set()
    assert hopweave("ingest", papers / "nothing", "-c", "p", "--prune").code == 1


def test_prune_is_refused_for_the_file_of_one_document(hopweave: Hopweave, papers: Path) -> None:
    hopweave("ingest", papers, "-c", "p")
    one = papers / "one.json"
    one.write_text('{"text": "x"}', encoding="utf-8")
    for paths in ((papers / "ada.txt",), (papers, papers / "ada.txt"), (one,)):
        ran = hopweave("ingest", *paths, "-c", "p", "--prune")
        assert (ran.code, "; name the folder of the corpus" in ran.err) == (2, True), ran.err
        assert str(paths[-1]) in ran.err
    assert keys(hopweave) == {"ada.txt", "engine.md"}
    for name, content in (("l.jsonl", '{"id": "l", "text": "x"}\n'), ("l.json", '\ufeff\n[{"id": "l", "text": "y"}]')):
        (papers.parent / name).write_text(content, encoding="utf-8")
        ran = hopweave("ingest", papers.parent / name, "-c", "p", "--prune", "--json")
        assert (ran.code, keys(hopweave)) == (0, {"l"}), ran.err


def keys(hopweave: Hopweave) -> set[str]:
    return {document["key"] for document in hopweave("documents", "list", "-c", "p", "--json").json["data"]}


def test_a_rejected_file_keeps_its_document_and_does_not_stop_pruning(hopweave: Hopweave, papers: Path) -> None:
    (papers / "list.jsonl").write_text('{"id": "p1", "text": "x"}\n{"id": "p2", "text": "y"}\n', encoding="utf-8")
    hopweave("ingest", papers, "-c", "p")
    (papers / "ada.txt").rename(papers / "ada.png")
    (papers / "engine.md").unlink()
    (papers / "engine.md").mkdir()
    (papers / "engine.md" / "new.txt").write_text("New.", encoding="utf-8")
    (papers / "list.jsonl").write_text('{"id": "p1", "text": \n', encoding="utf-8")
    ran = hopweave("ingest", papers, "-c", "p", "--prune", "--json")
    assert (ran.code, ran.json["pruned"], ran.json["prune_refused"]) == (0, 3, None)
    assert keys(hopweave) == {"p1", "engine.md/new.txt"}


def test_nothing_is_pruned_where_documents_may_be_hidden(hopweave: Hopweave, papers: Path) -> None:
    (papers / "list.json").write_text('[{"id": "p1", "text": "x"}]', encoding="utf-8")
    hopweave("ingest", papers, "-c", "p")
    (papers / "ada.txt").unlink()
    (papers / "list.json").write_text('[{"id": "p1", "te', encoding="utf-8")
    ran = hopweave("ingest", papers, "-c", "p", "--prune")
    assert "nothing was pruned: documents may be hidden in list.json: not valid JSON" in ran.err
    assert keys(hopweave) == {"ada.txt", "engine.md", "p1"}


def test_what_patterns_leave_out_is_not_read_and_not_pruned(hopweave: Hopweave, papers: Path) -> None:
    hopweave("ingest", papers, "-c", "p")
    (papers / "engine.md").unlink()
    kept = hopweave("ingest", papers, "-c", "p", "--prune", "--exclude", "*.md", "--json")
    assert (kept.json["pruned"], kept.json["handed_in"]) == (0, 1)
    pruned = hopweave("ingest", papers, "-c", "p", "--prune", "--exclude", "*.doc", "--json")
    assert pruned.json["pruned"] == 1
    wrong = hopweave("ingest", papers, "-c", "p", "--include", "a\\")
    assert (wrong.code, "--include 'a" in wrong.err) == (2, True)
    (papers / ".gitignore").write_text("ada.*\n", encoding="utf-8")
    (papers / "b.md").write_text("B.", encoding="utf-8")
    for options, count in (((), 1), (("--no-gitignore",), 2), (("--no-gitignore", "--include", "*.txt"), 1)):
        assert hopweave("ingest", papers, "-c", "p", *options, "--json").json["handed_in"] == count
    none = hopweave("ingest", papers, "-c", "p", "--include", "*.doc", "--exclude", "x/")
    assert (none.code, "is selected by --include '*.doc' --exclude 'x/'; " in none.err) == (1, True)


def test_given_entities_and_triples_are_read_beside_the_passages(hopweave: Hopweave, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "corpus.jsonl").write_text('{"id": "1", "title": "Ada", "text": "Ada knew Babbage."}\n', encoding="utf-8")
    (folder / "openie.jsonl").write_text(
        '{"id": "1", "entities": ["Ada"], "triples": [["Ada", "knew", "Babbage"], ["no"]]}\n', encoding="utf-8"
    )
    ran = hopweave("ingest", folder, "-c", "g", "--extractor", "given", "--json")
    assert ran.json["malformed_triples"] == 1
    assert hopweave("corpora", "show", "g", "--json").json["counts"]["facts"] == 1
    again = hopweave("ingest", folder, "-c", "g", "--json")
    assert again.json["documents"]["unchanged"] == 1, "the corpus' own extractor decides"


def test_what_conflicts_with_the_corpus(hopweave: Hopweave, papers: Path) -> None:
    hopweave("ingest", papers, "-c", "p")
    (papers / "ada.txt").write_text("Changed.", encoding="utf-8")
    skipped = hopweave("ingest", papers, "-c", "p", "--on-conflict", "skip", "--json")
    assert skipped.json["documents"]["skipped"] == 1
    refused = hopweave("ingest", papers, "-c", "p", "--on-conflict", "error")
    assert refused.code == 1
    assert "ada.txt" in refused.err
    (papers / "ada.txt").unlink()
    unchanged = hopweave("ingest", papers, "-c", "p", "--on-conflict", "error", "--json")
    assert (unchanged.code, unchanged.json["documents"]["unchanged"]) == (0, 1)
    assert hopweave("ingest", papers, "-c", "p", "--on-conflict", "sometimes").code == 2
    other = hopweave("ingest", papers, "-c", "p", "--extractor", "given")
    assert (other.code, "extractor" in other.err) == (1, True)


def test_nothing_to_read_makes_no_corpus(hopweave: Hopweave, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for corpus in ("p", "P!"):
        ran = hopweave("ingest", tmp_path / "empty", "-c", corpus)
        assert ran.code == 1
        assert "there is no document in " in ran.err
        missing = hopweave("ingest", tmp_path / "nothing", "-c", corpus)
        assert missing.code == 1
        assert "nothing" in missing.err
    assert hopweave("corpora", "list", "--json").json["data"] == []


def interrupt(*_: object) -> None:
    """Ctrl-C, at a moment of our choice."""
    os.kill(os.getpid(), signal.SIGINT)


async def interrupt_waiting(*_: object) -> None:
    interrupt()
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("place", "by"),
    [("cli.flows.ingest.wait_for_job", interrupt_waiting), ("cli.output.progress.Progress.show_submitted", interrupt)],
)
def test_interrupted_nothing_is_lost(
    hopweave: Hopweave, papers: Path, monkeypatch: pytest.MonkeyPatch, place: str, by: Callable[..., object]
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(place, by)
        ran = hopweave("ingest", papers, "-c", "p")
    assert ran.code == 130
    assert ran.err.startswith("interrupted; nothing is lost")
    assert ran.out == ""
    assert hopweave("ingest", papers, "-c", "p").code == 0
    assert hopweave("corpora", "show", "p", "--json").json["counts"]["documents"] == 2
    states = {job["state"] for job in hopweave("jobs", "list", "--json").json["data"]}
    assert states <= {"done", "cancelled"}, "no job is left open"
