"""`hopweave ingest --server`: a server on a real socket, and the command that uploads to it."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn
from pydantic import SecretStr

from api.main import create_app
from core.settings import ApiSettings, read_settings
from tests.documents import make_mail
from tests.integration.cli.conftest import Hopweave

pytestmark = pytest.mark.usefixtures("worker")


@contextmanager
def serving(api: ApiSettings | None = None, *, port: int = 0, address: str = "") -> Iterator[str]:
    """The address of a server for the data folder of the command."""
    app = create_app(read_settings().model_copy(update={"api": api or ApiSettings()}))
    app.state.address = address
    with socket.create_server(("127.0.0.1", port)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def url(hopweave: Hopweave) -> Iterator[str]:  # noqa: ARG001 - it sets the data folder
    with serving() as address:
        yield address


def test_the_same_documents_as_a_local_ingest(hopweave: Hopweave, papers: Path, url: str, tmp_path: Path) -> None:
    (papers / "sub").mkdir()
    (papers / "sub" / 'say "hi".txt').write_text("Ünï said hi.", encoding="utf-16")
    (papers / "people.jsonl").write_text('{"id": "bob", "text": "Bob.", "metadata": {"year": 1}}\n', encoding="utf-8")
    (papers / "one.json").write_text('{"title": "One", "text": "The first."}', encoding="utf-8")
    local = hopweave("ingest", papers, "-c", "local")
    remote = hopweave("ingest", papers, "-c", "remote", "--server", url)
    assert (local.code, remote.code) == (0, 0), remote.err
    assert remote.out.startswith("corpus remote: 5 indexed\n5 passages in ")
    for name in ("local", "remote"):
        assert hopweave("export", name, "--format", "jsonl", "--canonical", "-o", tmp_path / name).code == 0
    assert (tmp_path / "local").read_bytes() == (tmp_path / "remote").read_bytes()
    again = hopweave("ingest", papers, "-c", "local", "--server", url, "--json")
    assert again.json["documents"]["unchanged"] == 5, "the way that a document comes makes no revision"


def test_a_schema_for_a_new_corpus(hopweave: Hopweave, url: str, tmp_path: Path) -> None:
    schema, document = tmp_path / "schema.toml", tmp_path / "works.json"
    schema.write_text('[types.lamp]\nwords = ["lamp"]\n[relations.supplies]\nto = ["lamp"]\n', encoding="utf-8")
    document.write_text('{"title": "W", "text": "x", "triples": [["Works", "supplies", "Lamp"]]}', encoding="utf-8")
    common = ("ingest", document, "-c", "lamps", "--extractor", "given", "--schema", schema, "--server", url)
    made = hopweave(*common)
    assert "1 fact within the schema, 0 outside, 0 without a relation of it" in made.out, made.err
    assert hopweave(*common).code == 0
    schema.write_text("strict = true", encoding="utf-8")
    assert "corpus 'lamps' does not have this schema" in hopweave(*common).err


def test_bad_files_are_named_as_in_a_local_ingest(hopweave: Hopweave, papers: Path, url: str) -> None:
    (papers / "photo.png").write_bytes(b"?")
    (papers / "broken.json").write_text("{", encoding="utf-8")
    (papers / "lines.jsonl").write_text('{"id": "1"}\n', encoding="utf-8")
    local = hopweave("ingest", papers, "-c", "local", "--json")
    remote = hopweave("ingest", papers, "-c", "remote", "--server", url, "--json")
    assert remote.json["rejected"] == local.json["rejected"]
    assert remote.json["documents"] == local.json["documents"]
    assert (remote.code, hopweave("ingest", papers, "-c", "remote", "--server", url, "--strict").code) == (0, 1)


def test_what_the_server_refuses_is_rejected(hopweave: Hopweave, papers: Path) -> None:
    (papers / "large.txt").write_text("x" * 1001, encoding="utf-8")
    (papers / "large.md").write_text("x" * 1001, encoding="utf-8")
    for number in range(5):
        (papers / f"a{number}.txt").write_text(f"Text {number}.", encoding="utf-8")
    with serving(ApiSettings(max_file_mb=0.001, max_files=3)) as url:
        ran = hopweave("ingest", papers, "-c", "p", "--server", url, "--json")
    assert [one["source"] for one in ran.json["rejected"]] == ["large.md", "large.txt"]
    assert "is larger than 0.001 MB" in ran.json["rejected"][0]["reason"]
    assert (ran.code, ran.json["documents"]["indexed"]) == (0, 7), "in several jobs"


def test_prune(hopweave: Hopweave, papers: Path, url: str) -> None:
    hopweave("ingest", papers, "-c", "p", "--server", url)
    (papers / "ada.txt").unlink()
    pruned = hopweave("ingest", papers, "-c", "p", "--server", url, "--prune", "--json")
    assert (pruned.code, pruned.json["pruned"]) == (0, 1), pruned.err
    listed = hopweave("documents", "list", "-c", "p", "--json")
    assert [document["key"] for document in listed.json["data"]] == ["engine.md"]
    (papers.parent / "one.txt").write_text("One.", encoding="utf-8")
    refused = hopweave("ingest", papers.parent / "one.txt", "-c", "p", "--server", url, "--prune")
    assert (refused.code, "name the folder of the corpus" in refused.err) == (2, True), refused.err
    (papers / "engine.md").unlink()
    emptied = hopweave("ingest", papers, "-c", "p", "--server", url, "--prune", "--json")
    assert (emptied.code, emptied.json["pruned"]) == (0, 1), emptied.err


def test_verbose_prints_a_line_for_each_document(hopweave: Hopweave, papers: Path, url: str) -> None:
    (papers / "broken.txt").write_bytes(b"%PDF-1.7")
    (papers / "photo.png").write_bytes(b"?")
    (papers / "plan.eml").write_bytes(make_mail())
    ran = hopweave("ingest", papers, "-c", "p", "--server", url, "--verbose")
    assert ran.err.count("indexed: ada.txt: 1 passage, ") == 1
    assert ran.err.count("indexed: plan.eml/attachments/plan.txt: 1 passage, ") == 1
    assert ran.err.count("failed: broken.txt: 'broken.txt' is a PDF file") == 1
    assert ran.err.count("rejected: photo.png: ") == 1


def test_nothing_is_pruned_where_documents_may_be_hidden(hopweave: Hopweave, papers: Path, url: str) -> None:
    (papers / "list.json").write_text('[{"id": "one", "text": "One."}]', encoding="utf-8")
    hopweave("ingest", papers, "-c", "p", "--server", url)
    (papers / "list.json").write_text("[{", encoding="utf-8")
    (papers / "ada.txt").unlink()
    ran = hopweave("ingest", papers, "-c", "p", "--server", url, "--prune")
    assert (ran.code, "nothing was pruned: documents may be hidden in list.json" in ran.err) == (0, True)
    assert hopweave("corpora", "show", "p", "--json").json["counts"]["documents"] == 3
    assert hopweave("ingest", papers, "-c", "p", "--server", url, "--prune", "--strict").code == 1


def test_a_link_that_leads_nowhere_hides_what_was_behind_it(
    hopweave: Hopweave, papers: Path, url: str, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "far.txt").write_text("Far away.", encoding="utf-8")
    (papers / "link").symlink_to(tmp_path / "elsewhere")
    for name, options in (("here", []), ("there", ["--server", url])):
        ran = hopweave("ingest", papers, "-c", name, *options)
        assert "link: it is a link that leads out of the folder" in ran.err
        hopweave("ingest", papers, "-c", name, "--follow-links", *options)
    (tmp_path / "elsewhere").rename(tmp_path / "away")
    (papers / "ada.txt").unlink()
    for name, options in (("here", []), ("there", ["--server", url])):
        ran = hopweave("ingest", papers, "-c", name, "--prune", "--follow-links", "--json", *options)
        assert (ran.json["pruned"], ran.json["prune_refused"]) == (1, None)
        assert hopweave("documents", "show", "link/far.txt", "-c", name).code == 0


def test_prune_keeps_the_document_of_a_file_that_is_rejected(hopweave: Hopweave, papers: Path, url: str) -> None:
    hopweave("ingest", papers, "-c", "p", "--server", url)
    with serving(ApiSettings(max_file_mb=0.00006)) as small:
        (papers / "ada.txt").write_text("x" * 100, encoding="utf-8")
        ran = hopweave("ingest", papers, "-c", "p", "--server", small, "--prune", "--json")
    assert ran.json["pruned"] == 0
    assert hopweave("documents", "show", "ada.txt", "-c", "p").code == 0


def test_errors_are_told_in_one_line(hopweave: Hopweave, papers: Path, url: str) -> None:
    away = hopweave("ingest", papers, "-c", "p", "--server", "http://127.0.0.1:1")
    assert (away.code, away.err.startswith("hopweave: no Hopweave server answers at http://127.0.0.1:1")) == (1, True)
    hopweave("ingest", papers, "-c", "p", "--server", url)
    other = hopweave("ingest", papers, "-c", "p", "--server", url, "--extractor", "given")
    assert (other.code, "extractor pattern, not given" in other.err) == (1, True)
    (papers / "ada.txt").write_text("Changed.", encoding="utf-8")
    conflict = hopweave("ingest", papers, "-c", "p", "--server", url, "--on-conflict", "error")
    assert (conflict.code, "ada.txt" in conflict.err) == (1, True)


def test_keys(hopweave: Hopweave, papers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(ApiSettings(keys=[SecretStr("a key")])) as url:
        refused = hopweave("ingest", papers, "-c", "p", "--server", url)
        assert (refused.code, "no key was shown" in refused.err) == (1, True)
        assert "--api-key" in refused.err
        assert "HOPWEAVE_API_KEY" in refused.err
        assert hopweave("ingest", papers, "-c", "p", "--server", url, "--api-key", "a key").code == 0
        monkeypatch.setenv("HOPWEAVE_API_KEY", "a key")
        assert hopweave("ingest", papers, "-c", "p", "--server", url).code == 0


def test_an_exported_corpus_is_sent_to_the_server(hopweave: Hopweave, papers: Path, url: str, tmp_path: Path) -> None:
    assert hopweave("ingest", papers, "-c", "first").code == 0
    exported = tmp_path / "first.jsonl"
    assert hopweave("export", "first", "--format", "jsonl", "-o", exported).code == 0
    done = hopweave("ingest", exported, "-c", "second", "--server", url)
    assert done.code == 0, done.err
    assert done.out.startswith("corpus second: ")
    for name in ("first", "second"):
        assert hopweave("export", name, "--format", "jsonl", "--canonical", "-o", tmp_path / name).code == 0
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    refused = hopweave("ingest", exported, "-c", "third", "--server", url, "--chunker", "passage")
    assert refused.code == 1
    assert "was written with chunker sentences, not passage" in refused.err
    exported.write_bytes(exported.read_bytes()[:-9])
    cut = hopweave("ingest", exported, "-c", "third", "--server", url)
    assert cut.code == 2
    assert "the body line" in cut.err


def test_a_dry_run_is_that_of_a_local_ingest(hopweave: Hopweave, papers: Path, url: str) -> None:
    (papers / "guess.txt").write_bytes("Grüße aus der Straße, schöne Bäume.".encode("latin-1"))
    (papers / "broken.txt").write_bytes(b"%PDF-1.7")
    (papers / "photo.png").write_bytes(b"?")
    missing = hopweave("ingest", papers, "-c", "p", "--dry-run", "--server", url)
    assert missing.code == 1
    assert "the server has no corpus 'p'" in missing.err
    assert "POST /v1/corpora" in missing.err
    assert hopweave("corpora", "list", "--json").json["data"] == [], "nothing is created"
    assert hopweave("ingest", papers / "ada.txt", "-c", "p").code == 0
    local = hopweave("ingest", papers, "-c", "p", "--dry-run", "--json")
    remote = hopweave("ingest", papers, "-c", "p", "--dry-run", "--json", "--server", url)
    assert (local.code, remote.code) == (0, 0), remote.err
    assert remote.json == local.json
    assert (remote.json["documents"], remote.json["unchanged"]) == (3, 1)
    assert len(remote.json["rejected"]) == 2
    assert remote.json["notes"][0]["key"] == "guess.txt"
    shown = hopweave("ingest", papers, "-c", "p", "--dry-run", "--server", url, "--strict")
    assert shown.code == 1, "as locally, with a rejected file"
    assert shown.out == hopweave("ingest", papers, "-c", "p", "--dry-run").out
    other = hopweave("ingest", papers, "-c", "p", "--dry-run", "--server", url, "--chunker", "passage")
    assert other.code == 1
    assert "has chunker sentences, not passage" in other.err
    listed = hopweave("documents", "list", "-c", "p", "--json").json["data"]
    assert [one["key"] for one in listed] == ["ada.txt"], "nothing is written"
