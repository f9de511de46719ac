"""Every other command: what it prints, and its exit codes."""

import io
import json
import os
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.integration.cli.conftest import Hopweave, Ran, working

STATES = "'queued', 'running', 'paused', 'done', 'failed', 'cancelled'"


def test_search(hopweave: Hopweave, corpus: str) -> None:
    ran = hopweave("search", "Who designed the Analytical Engine?", "-c", corpus, "-k", 1, "--explain")
    assert ran.code == 0
    assert ran.out.startswith("1. The Engine")
    assert "(engine.md)" in ran.out
    assert "cosine" in ran.out
    assert "way: Analytical Engine —mentions→ passage of “The Engine”" in ran.out
    shown = hopweave("search", "Analytical Engine", "-c", corpus, "--searcher", "fused:damping=0.7", "--json").json
    assert shown["hits"][0]["document"]["key"] == "engine.md"
    assert set(shown) == {"hits", "generation", "generations", "notes", "timing", "usage"}
    only = hopweave("search", "Charles Babbage", "-c", corpus, "--filter", '{"$key": "ada.txt"}', "--json").json
    assert [hit["document"]["key"] for hit in only["hits"]] == ["ada.txt"]


def test_search_prints_snippets_or_whole_passages(hopweave: Hopweave, corpus: str, tmp_path: Path) -> None:
    lines = ["Rain fell all day. A lantern hung in the harbour.", "Nobody lit it.", "The lantern is gone."]
    harbour = {"key": "harbour", "title": "Harbour", "chunks": [{"text": text, "page": 3} for text in lines]}
    (tmp_path / "harbour.jsonl").write_text(json.dumps(harbour), encoding="utf-8")
    assert hopweave("ingest", tmp_path / "harbour.jsonl", "-c", corpus).code == 0
    arguments = ("search", "lantern hung", "-c", corpus, "--searcher", "sparse", "--group-by", "document", "-k", 1)
    ran = hopweave(*arguments)
    first, score, snippet, also, _ = ran.out.split("\n", 4)
    assert first == "1. Harbour  (harbour, page 3)"
    assert score.startswith("   score")
    assert snippet == "   A lantern hung in the harbour."
    assert also == "   also in this document: page 3"
    whole = hopweave(*arguments, "--full").out
    assert f"   {lines[0]}\n" in whole
    assert lines[1] not in whole
    around = hopweave(*arguments, "--context", 2).out
    after = [f"\n\n      after, page 3:\n      {line}" for line in lines[1:]]
    assert f"\n   {lines[0]}{''.join(after)}\n" in around
    (hit,) = hopweave(*arguments, "--context", 1, "--json").json["hits"]
    assert [chunk["text"] for chunk in hit["after"]] == [lines[1]]
    assert hit["snippet"]["marks"] == [{"start": 2, "end": 9}, {"start": 10, "end": 14}]
    assert hopweave(*arguments, "--context", 6).code == 2


def test_search_says_why(hopweave: Hopweave, corpus: str, papers: Path) -> None:
    machines = "# Steam\n\nCharles Babbage made the Difference Drum.\n\n# Difference Drum\n\nIt was shown in a hall.\n"
    (papers / "machines.md").write_text(machines, encoding="utf-8")
    assert hopweave("ingest", papers / "machines.md", "-c", corpus).code == 0
    arguments = ("search", "What of Charles Babbage was shown in a hall?", "-c", corpus, "--searcher", "bridged")
    ran = hopweave(*arguments, "--explain")
    assert "   why: linked from *Steam*, which names its heading\n   why: brings “shown”, “hall”\n   way: " in ran.out
    assert "   why: names “Charles Babbage” of the question\n" in ran.out
    hits = hopweave(*arguments, "--explain", "--json").json["hits"]
    assert not any(hit["contributions"] for hit in hits)
    told = hopweave(*arguments, "--features", "--json").json["hits"]
    assert [hit["reasons"] for hit in told] == [hit["reasons"] for hit in hits]
    first = told[0]["contributions"]
    assert sum(first.values()) == pytest.approx(told[0]["score"], abs=1e-9)
    most = max(first, key=lambda name: abs(first[name]))
    shown = hopweave(*arguments, "-k", 1, "--features").out
    assert f"{first[most]:+8.3f}  {most}" in shown
    assert f"({len(first) - 10} others)" in shown
    plain = hopweave(*arguments).out
    assert "why:" not in plain
    assert most not in plain


def test_ask(hopweave: Hopweave, corpus: str) -> None:
    ran = hopweave("ask", "Who designed the Analytical Engine?", "-c", corpus, "--no-stream")
    assert ran.code == 0
    assert "[1] The Engine (engine.md)" in ran.out
    assert "Extractive: this answer only quotes its sources" in ran.out
    shown = hopweave("ask", "Who designed the Analytical Engine?", "-c", corpus, "--json").json
    assert shown["reasoner"] == "extractive"
    quote = shown["citations"][0]["quote"]
    assert quote in shown["answer"]
    assert " ".join(ran.out.split()).count(quote) == 1, "what the answer repeats is not printed again"
    assert ran.out.count("[1] The Engine (engine.md)") == 1, "a source is named once, with all its quotes"
    declining = ("--reasoner", "extractive:min_probability=1", "--no-stream")
    declined = hopweave("ask", "Who designed the Analytical Engine?", "-c", corpus, *declining)
    assert (declined.code, "(no answer)" in " ".join(declined.out.split())) == (0, True)
    assert "[1] The Engine (engine.md)" in declined.out


_FAULTS: list[tuple[tuple[object, ...], int, str]] = [
    (("search", "a", "-c", "nothing"), 1, "papers"),
    (("ask", "a", "-c", "nothing"), 1, "papers"),
    (("search", " ", "-c", "papers"), 2, "empty"),
    (("search", "a", "-c", "papers", "-k", 0), 2, "'-k'"),
    (("search", "a", "-c", "papers", "-k", 10_000), 2, "10000"),
    (("search", "a", "-c", "papers", "--searcher", "no-such"), 2, "no-such"),
    (("ask", "a", "-c", "papers", "--reasoner", "extractive:no_such=1"), 2, "no_such"),
    (("search", "a", "-c", "papers", "--filter", "{"), 2, "--filter"),
    (("search", "a", "-c", "papers", "--filter", "[]"), 2, "--filter"),
    (("search", "a", "-c", "papers", "--filter", '{"a": {"$near": 1}}'), 2, "$near"),
    (("export", "papers", "--format", "pdf"), 2, "pdf"),
    (("export", "nothing", "--format", "csv"), 1, "nothing"),
    (("documents", "show", "nothing", "-c", "papers"), 1, "nothing"),
    (("jobs", "show", "nothing"), 1, "nothing"),
    (("corpora", "create", "papers"), 1, "papers"),
    (("corpora", "create", "P!"), 2, "P!"),
    (("no-such-command",), 2, "no-such-command"),
]


def test_faults_are_one_line(hopweave: Hopweave, corpus: str) -> None:
    assert corpus == "papers"
    for arguments, code, named in _FAULTS:
        ran = hopweave(*arguments)
        assert (ran.code, ran.out, named in ran.err) == (code, "", True), ran.err
        assert ran.err.startswith("Usage") or ran.err.count("\n") == 1


@pytest.mark.usefixtures("worker")
def test_corpora(hopweave: Hopweave) -> None:
    made = hopweave("corpora", "create", "a", "--extractor", "pattern+given", "--fine", "on", "--json")
    assert made.json["fine"] == "on"
    assert hopweave("corpora", "rename", "a", "b", "--json").json["id"] == made.json["id"]
    assert "pattern+given" in hopweave("corpora", "list").out
    assert hopweave("corpora", "show", "b").out.count("\n") > 5
    deleted = hopweave("corpora", "delete", "b", "--yes", "--json")
    assert deleted.json["job"]["state"] == "done"
    assert hopweave("corpora", "list", "--json").json == {"data": [], "next_cursor": None}


def test_a_list_of_nothing_names_the_data_folder(hopweave: Hopweave, tmp_path: Path) -> None:
    ran = hopweave("corpora", "list")
    assert (ran.code, ran.out, str(tmp_path / "data") in ran.err) == (0, "(none)\n", True), ran.err


def test_misspelt_roles_are_named(hopweave: Hopweave, corpus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWEAVE_LLM__ROLES__PLANN__MODEL", "m")
    ran = hopweave("search", "Ada", "-c", corpus)
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "there is no role 'plann'; did you mean 'plan'? there are: " in ran.err
    assert "plan, " in ran.err
    monkeypatch.delenv("HOPWEAVE_LLM__ROLES__PLANN__MODEL")
    monkeypatch.setenv("HOPWEAVE_LLM__ROLES__CONCLUDE_STEPS__MODEL", "m")
    assert "there is no role 'conclude_steps'" in hopweave("search", "Ada", "-c", corpus).err


def test_data_are_private(hopweave: Hopweave, tmp_path: Path) -> None:
    assert hopweave("corpora", "create", "p").code == 0
    folder = tmp_path / "data"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "record.db").stat().st_mode & 0o777 == 0o600
    (tmp_path / "ada.txt").write_text("Ada Lovelace wrote the first program.")
    with working():
        assert hopweave("ingest", tmp_path / "ada.txt", "-c", "p").code == 0
    originals = [folder / "files", *(folder / "files").rglob("*")]
    assert [one for one in originals if one.stat().st_mode & 0o077] == []
    assert "other users" not in hopweave("doctor").out
    folder.chmod(0o755)
    assert hopweave("corpora", "list").code == 0
    assert folder.stat().st_mode & 0o777 == 0o755, "a folder that exists keeps its mode"
    told = hopweave("doctor")
    assert (told.code, "other users of this machine may read" in told.out) == (0, True), told.out
    assert f"chmod 700 {folder}" in told.out


def test_a_corpus_is_built_anew(hopweave: Hopweave, corpus: str) -> None:
    before = hopweave("corpora", "show", corpus, "--json").json
    job = hopweave("corpora", "reindex", corpus, "--chunker", "passage", "--json").json["job"]
    assert (job["kind"], job["state"]) == ("reindex", "done")
    after = hopweave("corpora", "show", corpus, "--json").json
    assert (after["chunker"], after["counts"]["documents"]) == ("passage", before["counts"]["documents"])
    assert after["id"] != before["id"]
    assert hopweave("corpora", "reindex", corpus, "--extractor", "no-such").code == 2
    assert "is reindexed" in hopweave("corpora", "reindex", corpus).out


def _keys(ran: Ran) -> list[str]:
    return [line.split()[0] for line in ran.out.splitlines() if ".txt" in line or ".md" in line]


def test_documents_by_key_or_id(hopweave: Hopweave, corpus: str) -> None:
    page = hopweave("documents", "list", "-c", corpus, "--limit", 1, "--json").json
    shown = hopweave("documents", "show", page["data"][0]["id"], "-c", corpus, "--json").json
    assert shown["key"] == "ada.txt"
    assert hopweave("documents", "retry", "ada.txt", "-c", corpus).code == 1, "it has not failed"
    listing = ("documents", "list", "-c", corpus)
    after = ("--cursor", page["next_cursor"])
    assert _keys(hopweave(*listing, *after)) == ["engine.md"]
    for refused in (("--cursor", "ada.txt"), (*after, "--enabled")):
        ran = hopweave(*listing, *refused)
        assert ran.code == 2
        assert "`cursor` is not a `next_cursor` of this list" in ran.err
    assert _keys(hopweave(*listing, "--key", "engine.md")) == ["engine.md"]
    assert _keys(hopweave(*listing, "--filter", '{"$key": {"$prefix": "ada"}}')) == ["ada.txt"]
    deleted = hopweave("documents", "delete", "nix", "ada.txt", shown["id"], "-c", corpus, "--json")
    assert (deleted.code, deleted.json["missing"], deleted.json["job"]["counts"]) == (1, ["nix"], {"deleted": 1})
    assert "no document with the key or id 'nix'" in deleted.err
    again = hopweave("documents", "delete", "ada.txt", "-c", corpus)
    assert (again.code, "nothing was deleted" in again.err) == (1, True), again.err
    assert _keys(hopweave(*listing)) == ["engine.md"]


def test_documents_are_disabled_and_enabled(hopweave: Hopweave, corpus: str) -> None:
    assert "ada.txt" in hopweave("search", "Ada", "-c", corpus).out
    assert hopweave("documents", "disable", "ada.txt", "-c", corpus).out == "1 disabled\n"
    assert "ada.txt" not in hopweave("search", "Ada", "-c", corpus).out
    assert "indexed, disabled" in hopweave("documents", "list", "-c", corpus).out
    assert _keys(hopweave("documents", "list", "-c", corpus, "--disabled")) == ["ada.txt"]
    assert _keys(hopweave("documents", "list", "-c", corpus, "--enabled")) == ["engine.md"]
    assert hopweave("documents", "disable", "ada.txt", "-c", corpus, "--json").json == {"changed": 0}
    assert hopweave("documents", "disable", "none.txt", "-c", corpus).code == 1
    assert hopweave("documents", "enable", "ada.txt", "-c", corpus).out == "1 enabled\n"
    assert "ada.txt" in hopweave("search", "Ada", "-c", corpus).out


def test_jobs(hopweave: Hopweave, corpus: str) -> None:
    job = hopweave("jobs", "list", "--json").json["data"][0]
    assert job["corpus_name"] == corpus
    assert hopweave("jobs", "show", job["id"], "--json").json["counts"] == {"indexed": 2}
    assert hopweave("jobs", "cancel", job["id"], "--json").json["state"] == "done", "what is over stays as it is"
    of_it = ("jobs", "list", "--corpus", corpus, "--kind", "ingest", "--state", "done")
    assert [one["id"] for one in hopweave(*of_it, "--json").json["data"]] == [job["id"]]
    for other in (("--corpus", "other"), ("--kind", "drop"), ("--state", "paused")):
        assert hopweave("jobs", "list", *other, "--json").json == {"data": [], "next_cursor": None}
    hopweave("documents", "delete", "ada.txt", "-c", corpus)
    cursor = hopweave("jobs", "list", "--limit", 1, "--json").json["next_cursor"]
    assert cursor in hopweave("jobs", "list", "--limit", 1).out
    assert [one["id"] for one in hopweave("jobs", "list", "--cursor", cursor, "--json").json["data"]] == [job["id"]]
    assert hopweave("jobs", "list", "--cursor", job["id"]).code == 2


def test_export(hopweave: Hopweave, corpus: str, tmp_path: Path) -> None:
    canonical = hopweave("export", corpus, "--format", "jsonl", "--canonical")
    rows = [json.loads(line) for line in canonical.out.splitlines()]
    assert [row["kind"] for row in rows][:2] == ["document", "document"]
    file = tmp_path / "graph.graphml"
    written = hopweave("export", corpus, "--format", "graphml", "-o", file, "--json")
    assert written.json["bytes"] == file.stat().st_size
    assert ET.parse(file).getroot().tag.endswith("graphml")  # noqa: S314 - our own output
    unwritable = hopweave("export", corpus, "--format", "csv", "-o", tmp_path / "no" / "file.csv")
    assert unwritable.code == 2
    assert unwritable.err.count("\n") == 1


@pytest.mark.usefixtures("worker")
def test_documents_cannot_steer_the_terminal(hopweave: Hopweave, tmp_path: Path) -> None:
    (tmp_path / "evil.txt").write_text("Evil \x1b]0;title\x07 text [bold]markup[/bold].", encoding="utf-8")
    hopweave("ingest", tmp_path / "evil.txt", "-c", "evil")
    quoting = ("--reasoner", "extractive:min_probability=0")
    for ran in (hopweave("search", "Evil text", "-c", "evil"), hopweave("ask", "Evil text", "-c", "evil", *quoting)):
        assert "\x1b" not in ran.out
        assert "[bold]markup[/bold]" in ran.out


def test_wrong_settings_are_named(hopweave: Hopweave, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWEAVE_WORKER__LEASE_SECONDS", "never")
    ran = hopweave("corpora", "list")
    assert ran.code == 1
    assert "HOPWEAVE_WORKER__LEASE_SECONDS" in ran.err


def test_serve_refuses_an_open_door(hopweave: Hopweave, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for keys in (None, '[""]', '[" "]'):
        if keys is not None:
            monkeypatch.setenv("HOPWEAVE_API__KEYS", keys)
        ran = hopweave("serve", "--host", "0.0.0.0")  # noqa: S104 - refused
        assert (ran.code, "HOPWEAVE_API__KEYS" in ran.err) == (2, True), ran.err
    assert not (tmp_path / "data").exists()


@pytest.mark.usefixtures("worker")
def test_a_second_worker_says_who_holds_the_folder(hopweave: Hopweave) -> None:
    ran = hopweave("worker")
    assert ran.code == 1
    assert f"process {os.getpid()}" in ran.err


_WRONG_OPTIONS = [
    ("search a -c p --group-by chapter", "value for '--group-by': 'chapter' is not one of 'document'", "search"),
    ("jobs list --state over", f"value for '--state': 'over' is not one of {STATES}", "jobs list"),
    ("documents list -c p --limit 0", "value for '--limit': 0 is not greater than or equal to 1", "documents list"),
    ("search a -c p -k many", "value for '-k': 'many' is not a whole number", "search"),
    ("ingest . -c p --poll often", "value for '--poll': 'often' is not a number", "ingest"),
    ("search a", "Missing option '--corpus' / '-c'", "search"),
]


def test_one_line_names_the_option_and_what_is_allowed(hopweave: Hopweave) -> None:
    for call, message, command in _WRONG_OPTIONS:
        ran = hopweave(*call.split())
        invalid = message if message.startswith("Missing") else f"Invalid {message}"
        told = f"hopweave: {invalid}; see `hopweave {command} --help`\n"
        assert (ran.code, ran.out, ran.err) == (2, "", told)


def test_the_version_help_and_arguments_that_are_no_text(hopweave: Hopweave) -> None:
    assert hopweave("version", "--json").json["version"] == hopweave("version").out.strip()
    assert hopweave("--version").out == hopweave("version").out
    helped = hopweave("jobs")
    assert (helped.code, "List, show, cancel and resume jobs." in helped.out + helped.err) == (2, True)
    refused = hopweave("search", "\udcff", "-c", "a")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert hopweave("ingest", "\udcff.txt", "-c", "a").code == 2


def test_what_is_not_confirmed_is_not_done(hopweave: Hopweave, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hopweave("corpora", "create", "p").code == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    ran = hopweave("corpora", "delete", "p")
    assert ran.code == 1
    assert ran.err.endswith("hopweave: stopped, as it was not confirmed; nothing was done\n")
    assert len(hopweave("corpora", "list", "--json").json["data"]) == 1


def test_a_folder_has_one_worker(hopweave: Hopweave, tmp_path: Path) -> None:
    ran = hopweave("worker", "--concurrency", 2)
    assert ran.code == 2
    assert "HOPWEAVE_STORE__RECORD=neo4j" in ran.err
    assert not (tmp_path / "data").exists()


def test_a_broker_that_cannot_be_one_is_told_at_once(
    hopweave: Hopweave, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_servers = {
        "STORE__RECORD": "neo4j",
        "STORE__TEXT": "neo4j",
        "STORE__VECTORS": "milvus",
        "FILES__URL": str(tmp_path / "files"),
        "NEO4J__URI": "bolt://127.0.0.1:1",
        "MILVUS__URI": "http://127.0.0.1:1",
        "BROKER__URL": "redis://:do-not-show@host:port/0",
    }
    for name, value in on_servers.items():
        monkeypatch.setenv(f"HOPWEAVE_{name}", value)
    ran = hopweave("worker")
    assert ran.code == 1
    assert "HOPWEAVE_BROKER__URL cannot be understood" in ran.err
    assert "do-not-show" not in ran.err
