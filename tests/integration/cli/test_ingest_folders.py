"""`hopweave ingest` of a folder with files of every kind of text, some of them broken."""

import json
import os
from pathlib import Path

import pytest

from core import strategies
from tests.integration.api.test_attachments import make_mail
from tests.integration.cli.conftest import Hopweave

pytestmark = pytest.mark.usefixtures("worker")

GERMAN = "Die alte Brücke über den Fluß wurde im Jahre 1780 gebaut. Die Bürger gehen täglich darüber."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "mixed"
    folder.mkdir()
    for name in ("csv", "eml", "html", "ipynb", "md", "rst", "source", "txt"):
        module = strategies.load_module("indexer.loaders", name, "loader")
        (folder / f"good{module.SUFFIXES[0]}").write_bytes(module.EXAMPLE)
    (folder / "latin.txt").write_bytes(GERMAN.encode("latin-1"))
    (folder / "wide.txt").write_bytes(GERMAN.encode("utf-16-le"))
    (folder / "list.json").write_text(json.dumps([{"id": "one", "text": "One."}, {"id": "two"}]), encoding="utf-8")
    (folder / ("n" * 250 + ".txt")).write_text("A long name.", encoding="utf-8")
    (folder / "<script>.txt").write_text("Markup in a name.", encoding="utf-8")
    (folder / "\u202egnp.txt").write_text("Written from right to left.", encoding="utf-8")
    (folder / "empty.txt").write_bytes(b"")
    (folder / "loop").symlink_to(folder)
    (folder / "again.txt").symlink_to("latin.txt")
    for name, content in (("pdf.txt", b"%PDF-1.7"), ("cut.txt", GERMAN.encode() + b"\xc3"), ("no.eml", b"no mail")):
        (folder / name).write_bytes(content)
    (folder / "new\nline.txt").write_text("x", encoding="utf-8")
    os.mkfifo(folder / "pipe.txt")
    return folder


def test_all_good_files_are_indexed_and_each_broken_one_is_named(hopweave: Hopweave, folder: Path) -> None:
    ran = hopweave("ingest", folder, "-c", "m", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["documents"]["indexed"] == 15
    rejected = {one["source"]: one["reason"] for one in ran.json["rejected"]}
    assert rejected.pop("list.json item 2").startswith("a document has either `text` or `chunks`")
    assert rejected.pop("pipe.txt") == "it is no regular file"
    assert "control character; remove it, or rename the file" in rejected.pop("new\\nline.txt")
    assert rejected == {}
    failed = {one["key"]: one["reason"] for one in ran.json["failures"]}
    assert failed.pop("pdf.txt").startswith("'pdf.txt' is a PDF file, not text")
    assert "is not UTF-8 text: byte 0xc3" in failed.pop("cut.txt")
    assert failed.pop("no.eml").startswith("'no.eml' is no mail")
    assert failed == {}
    assert {one["key"] for one in ran.json["notes"]} == {"latin.txt", "wide.txt"}
    found = hopweave("search", "old bridge over the river Brücke Fluß", "-c", "m", "--json")
    assert {"latin.txt", "wide.txt"} <= {hit["document"]["key"] for hit in found.json["hits"]}
    again = hopweave("ingest", folder, "-c", "m", "--prune", "--strict", "--json")
    assert (again.code, again.json["pruned"], again.json["documents"]["unchanged"]) == (1, 0, 15)


def test_attachments_of_mails_are_documents_and_go_with_their_mail(hopweave: Hopweave, tmp_path: Path) -> None:
    folder = tmp_path / "mails"
    folder.mkdir()
    (folder / "offer.eml").write_bytes(make_mail("plan.txt", "old.txt").as_bytes())
    (folder / "GPL-2.0").write_text("A licence.", encoding="utf-8")
    assert hopweave("ingest", folder, "-c", "m", "--json").json["documents"]["indexed"] == 4
    (folder / "offer.eml").write_bytes(make_mail("plan.txt").as_bytes())
    ran = hopweave("ingest", folder, "-c", "m", "--prune", "--json")
    assert ran.code == 0, ran.err
    below = "offer.eml/attachments/"
    assert keys(hopweave) == {"GPL-2.0", "offer.eml", f"{below}plan.txt"}
    (folder / "offer.eml").unlink()
    assert hopweave("ingest", folder, "-c", "m", "--prune", "--json").code == 0
    assert keys(hopweave) == {"GPL-2.0"}


def keys(hopweave: Hopweave) -> set[str]:
    return {one["key"] for one in hopweave("documents", "list", "-c", "m", "--json").json["data"]}
