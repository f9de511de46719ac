"""`hopweave documents change`, `content`, `pages`, and deletion by a filter."""

import json
import sys
from pathlib import Path

import pytest

from tests.documents import make_long_pdf
from tests.integration.cli.conftest import Hopweave


def test_title_metadata_and_enabled_are_changed(hopweave: Hopweave, corpus: str) -> None:
    at = ("ada.txt", "-c", corpus)
    made = hopweave("documents", "change", *at, "--title", "Ada", "--metadata", '{"year": 1843, "by": "me"}', "--json")
    assert made.code == 0, made.err
    assert (made.json["document"]["title"], made.json["document"]["metadata"]) == ("Ada", {"year": 1843, "by": "me"})
    assert made.json["job"]["counts"] == {"indexed": 1}
    shown = hopweave("documents", "change", *at, "--no-title", "--metadata", '{"by": null}', "--disabled")
    assert shown.code == 0, shown.err
    assert "enabled   False" in shown.out
    document = hopweave("documents", "show", *at, "--json").json
    assert (document["title"], document["metadata"], document["enabled"]) == ("ada", {"year": 1843}, False)
    again = hopweave("documents", "change", *at, "--enabled", "--json").json
    assert (again["document"]["enabled"], again["job"]["state"], again["job"]["counts"]) == (True, "done", {})
    found = hopweave("search", "Ada", "-c", corpus, "--filter", '{"year": 1843}', "--json").json["hits"]
    assert [hit["document"]["key"] for hit in found] == ["ada.txt"]


NO_CHANGES = [
    ((), "there is nothing to change: give --title"),
    (("--title", "a", "--no-title"), "--title and --no-title exclude each other"),
    (("--title", "a" * 1001), "the new `title` has 1,001 characters; at most 1,000 are allowed"),
    (("--metadata", "{"), "--metadata is not valid JSON"),
    (("--metadata", "[1]"), "--metadata is a JSON object of fields"),
    (("--metadata", '{"a": NaN}'), "NaN is no number of JSON"),
    (("--metadata", '{"a": "\\ud800"}'), "--metadata: `metadata.a`"),
]
NO_ACCESS = [
    (("ada.txt",), "give either --to, --everyone or --nobody"),
    (("ada.txt", "--to", "group:a", "--everyone"), "give either --to, --everyone or --nobody"),
    (("ada.txt", "--to", "legal"), "'legal' is no principal"),
    (("--everyone",), "give either KEY|ID... or --filter"),
    (("--filter", "{}", "--everyone"), "--filter is empty"),
]


def test_a_change_that_is_none_is_refused(hopweave: Hopweave, corpus: str) -> None:
    wrong = [(("change", "ada.txt", *arguments), message) for arguments, message in NO_CHANGES]
    for call, message in [*wrong, *((("access", *arguments), message) for arguments, message in NO_ACCESS)]:
        ran = hopweave("documents", *call, "-c", corpus)
        assert (ran.code, ran.out, message in ran.err) == (2, "", True), ran.err
        assert call[0] == "access" or ran.err.count("\n") == 1


def test_the_original_is_written(hopweave: Hopweave, corpus: str, papers: Path, tmp_path: Path) -> None:
    original = (papers / "engine.md").read_bytes()
    assert hopweave("documents", "content", "engine.md", "-c", corpus).out.encode() == original
    copy = tmp_path / "copy.md"
    written = hopweave("documents", "content", "engine.md", "-c", corpus, "-o", copy, "--json").json
    assert written == {"file": str(copy), "media_type": "text/markdown", "bytes": len(original)}
    assert copy.read_bytes() == original
    assert hopweave("documents", "content", "engine.md", "-c", corpus, "--json").code == 2
    nowhere = hopweave("documents", "content", "engine.md", "-c", corpus, "-o", tmp_path / "no" / "copy.md")
    assert (nowhere.code, "cannot be written: No such file or directory" in nowhere.err) == (2, True)
    assert hopweave("documents", "content", "none.md", "-c", corpus).code == 1


def test_a_terminal_is_sent_no_bytes_that_control_it(
    hopweave: Hopweave, corpus: str, papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (papers / "odd.txt").write_text("A \x1b[31mred\x1b[0m word.\n", encoding="utf-8")
    (papers / "old.txt").write_bytes("Grüße aus der Straße, schöne Bäume.".encode("latin-1"))
    assert hopweave("ingest", papers / "odd.txt", papers / "old.txt", "-c", corpus).code == 0
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True, raising=False)
    assert hopweave("documents", "content", "odd.txt", "-c", corpus).out == "A \ufffd[31mred\ufffd[0m word.\n"
    ran = hopweave("documents", "content", "old.txt", "-c", corpus)
    assert (ran.code, ran.out, "write it to a file with -o FILE" in ran.err) == (2, "", True)


def test_the_text_of_pages_is_printed(hopweave: Hopweave, corpus: str) -> None:
    assert (
        "Charles Babbage designed the Analytical Engine in London."
        in hopweave("documents", "pages", "engine.md", "-c", corpus).out
    )
    listed = hopweave("documents", "pages", "ada.txt", 1, "-c", corpus, "--json").json["data"]
    text = "Ada Lovelace wrote the first program with Charles Babbage."
    assert [(one["page"], one["text"]) for one in listed] == [(1, text)]
    ran = hopweave("documents", "pages", "ada.txt", 2, "-c", corpus)
    assert (ran.code, "has no page 2; it has one page: ask for page 1" in ran.err) == (1, True)
    assert hopweave("documents", "pages", "ada.txt", 0, "-c", corpus).code == 2
    swapped = hopweave("documents", "pages", corpus, "ada.txt")
    assert (swapped.code, "`hopweave documents pages KEY --corpus NAME`" in swapped.err) == (2, True), swapped.err


def test_several_pages_and_their_labels_are_told_apart(hopweave: Hopweave, corpus: str, tmp_path: Path) -> None:
    chunks = [{"text": f"Page {page}.", "page": page} for page in (1, 2)]
    (tmp_path / "two.jsonl").write_text(json.dumps({"key": "two", "chunks": chunks}), encoding="utf-8")
    pages = [["A preface thanks the printers."], ["The lantern of the harbour burns oil."]]
    (tmp_path / "report.pdf").write_bytes(make_long_pdf(pages, b"0<</S/r>>1<</S/D/P(F-)/St 3>>"))
    assert hopweave("ingest", tmp_path / "two.jsonl", tmp_path / "report.pdf", "-c", corpus).code == 0
    shown = hopweave("documents", "pages", "two", "-c", corpus).out
    assert shown == "--- page 1 ---\nPage 1.\n--- page 2 ---\nPage 2.\n"
    assert hopweave("documents", "pages", "two", 2, "-c", corpus).out == "Page 2.\n"
    shown = hopweave("documents", "pages", "report.pdf", "-c", corpus).out
    assert shown.splitlines()[::2] == ["--- page 1 (i) ---", "--- page 2 (F-3) ---"]
    assert "(report.pdf, page 2 (F-3))" in hopweave("search", "lantern of the harbour", "-c", corpus).out


def test_documents_are_deleted_by_a_filter(hopweave: Hopweave, corpus: str) -> None:
    for refused in ((), ("ada.txt", "--filter", '{"$key": "ada.txt"}')):
        ran = hopweave("documents", "delete", *refused, "-c", corpus)
        assert (ran.code, "give either KEY|ID... or --filter" in ran.err) == (2, True)
    for empty in ("{}", '{"$and": [{}]}'):
        ran = hopweave("documents", "delete", "--filter", empty, "-c", corpus)
        assert (ran.code, "delete the corpus instead" in ran.err) == (2, True)
    deleted = hopweave("documents", "delete", "--filter", '{"$key": {"$prefix": "ada"}}', "-c", corpus, "--json").json
    assert (deleted["job"]["counts"], deleted["missing"]) == ({"deleted": 1}, [])
    none = hopweave("documents", "delete", "--filter", '{"$key": {"$prefix": "ada"}}', "-c", corpus, "--json")
    assert (none.code, none.json["job"]["state"], none.json["job"]["counts"]) == (0, "done", {})
    assert [one["key"] for one in hopweave("documents", "list", "-c", corpus, "--json").json["data"]] == ["engine.md"]


def test_access_is_given_and_changed(hopweave: Hopweave, corpus: str, papers: Path, tmp_path: Path) -> None:
    def access() -> dict[str, list[str] | None]:
        listed = hopweave("documents", "list", "-c", corpus, "--json").json["data"]
        return {one["key"]: one["access"] for one in listed if one["key"] in ("ada.txt", "engine.md")}

    rules = tmp_path / "access.toml"
    rules.write_text('"*.md" = ["group:legal"]')
    ran = hopweave("ingest", papers, "-c", corpus, "--access", "group:all", "--access-file", rules)
    assert ran.code == 0, ran.err
    assert access() == {"ada.txt": ["group:all"], "engine.md": ["group:legal"]}
    assert hopweave("ingest", papers, "-c", corpus).code == 0
    assert access() == {"ada.txt": ["group:all"], "engine.md": ["group:legal"]}, "it is kept"
    changed = hopweave("documents", "access", "ada.txt", "-c", corpus, "--to", "user:anna", "--to", "group:b")
    assert (changed.code, changed.out) == (0, "1 document: group:b, user:anna\n")
    by_filter = hopweave("documents", "access", "-c", corpus, "--filter", '{"$key": "engine.md"}', "--nobody", "--json")
    assert by_filter.json == {"documents": 1}
    assert access() == {"ada.txt": ["group:b", "user:anna"], "engine.md": []}
    assert hopweave("documents", "access", "ada.txt", "-c", corpus, "--everyone").out == "1 document: everyone\n"
    assert access() == {"ada.txt": None, "engine.md": []}


def test_two_versions_are_compared_also_with_what_one_supersedes(
    hopweave: Hopweave, corpus: str, tmp_path: Path
) -> None:
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "fees-1.md").write_text("# Fees\n\nThe fee is 4 crowns.\n\n## Boats\n\nBoats are exempt.\n")
    (rules / "fees-2.md").write_text("# Fees\n\nThe fee is 5 crowns.\n\n## Late\n\nInterest is due.\nEach month.\n")
    assert hopweave("ingest", rules, "-c", corpus).code == 0
    shown = hopweave("documents", "compare", "fees-1.md", "fees-2.md", "-c", corpus)
    assert (shown.code, shown.out.split("\n")) == (
        0,
        [
            "changed: Fees",
            "    - 4",
            "    + 5",
            "added: Late",
            "    + Interest is due.",
            "    + Each month.",
            "removed: Boats",
            "    - Boats are exempt.",
            "0 clauses are the same",
            "",
        ],
    )
    found = hopweave("documents", "compare", "fees-1.md", "fees-2.md", "-c", corpus, "--json").json
    assert [clause["kind"] for clause in found["clauses"]] == ["changed", "added", "removed"]
    assert hopweave("documents", "compare", "fees-1.md", "none.md", "-c", corpus).code == 1
    (rules / "fees-3.md").write_text(
        "---\nsupersedes: fees-1.md\nvalid_from: 2024-13-45\nauthority: board\n---\n# Fees\n\nThe fee is 5 crowns.\n"
    )
    ran = hopweave("ingest", rules / "fees-3.md", "-c", corpus)
    assert (ran.code, "`valid_from` of its metadata is '2024-13-45', which is no day" in f"{ran.out}{ran.err}") == (
        0,
        True,
    )
    shown = hopweave("documents", "compare", "fees-3.md", "-c", corpus)
    assert (shown.code, "    + 5" in shown.out) == (0, True)
    assert "compared with fees-1.md, which fees-3.md supersedes" in shown.out
    refused = hopweave("documents", "compare", "fees-1.md", "-c", corpus)
    assert (refused.code, "'fees-1.md' supersedes no document" in refused.err) == (2, True)
