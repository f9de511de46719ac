"""Files and folders as documents."""

import json
from pathlib import Path

import pytest

from hopweave import NewDocument, Rejection
from hopweave._files import read_documents


def _read(*paths: Path, documents: tuple[NewDocument, ...] = ()) -> list[NewDocument | Rejection]:
    return list(read_documents(paths, documents))


def test_a_folder_is_walked_in_order(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "hidden.txt").write_text("hidden")
    (tmp_path / "sub" / "b.md").write_text("# B\n")
    (tmp_path / "sub" / "again").symlink_to(tmp_path)
    (tmp_path / "my file.txt").write_bytes("Ünï".encode("utf-8-sig"))
    (tmp_path / "wide.TXT").write_bytes("wide".encode("utf-16"))
    assert _read(tmp_path) == [
        NewDocument(key="my file.txt", title="my file", text="Ünï"),
        NewDocument(key="wide.TXT", title="wide", text="wide"),
        NewDocument(key="sub/b.md", title="b", text="# B\n"),
    ]


def test_json_and_json_lines(tmp_path: Path) -> None:
    chunk = {"text": "It is so.", "page": 3, "triples": [["it", "is", "so"]]}
    (tmp_path / "one.json").write_text(json.dumps({"id": "own", "chunks": [chunk], "unknown": 1}))
    lines = [json.dumps({"id": "x", "text": "X", "metadata": {"year": 1}}), "", "{", json.dumps({"text": 7})]
    (tmp_path / "two.jsonl").write_text("\n".join(lines))
    one, x, broken, wrong = _read(tmp_path)
    assert isinstance(one, NewDocument)
    assert one.key == "one.json"
    assert one.chunks is not None
    assert (one.chunks[0].page, one.chunks[0].triples) == (3, (["it", "is", "so"],))
    assert x == NewDocument(key="x", text="X", metadata={"year": 1})
    assert isinstance(broken, Rejection)
    assert broken.source == "two.jsonl line 3"
    assert isinstance(wrong, Rejection)
    assert wrong.reason.startswith("`text`")


def test_beside_a_corpus_only_the_corpus_is_read(tmp_path: Path) -> None:
    for name in ("corpus.jsonl", "openie.jsonl", "questions.jsonl"):
        (tmp_path / name).write_text(json.dumps({"id": name, "text": name}))
    assert [one.key for one in _read(tmp_path) if isinstance(one, NewDocument)] == ["corpus.jsonl"]


def test_what_cannot_be_read_is_rejected_and_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF")
    (tmp_path / "b.txt").write_bytes(b"\xff\x00\xff")
    (tmp_path / "c.json").write_text("[]")
    (tmp_path / "d.json").write_text('{"title": "neither"}')
    (tmp_path / "e.txt").write_text("e")
    (tmp_path / "f.txt").symlink_to(tmp_path / "gone")
    *rejected, last, link = _read(tmp_path)
    assert [one.source for one in rejected if isinstance(one, Rejection)] == ["a.pdf", "b.txt", "c.json", "d.json"]
    assert isinstance(last, NewDocument)
    assert isinstance(link, Rejection)


def test_of_two_with_one_key_the_first_is_taken(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("file")
    given = (NewDocument(key="a.txt", text="given"), NewDocument(text="no key"), NewDocument(text="no key"))
    first, second, *rest = _read(tmp_path / "a.txt", documents=given)
    assert isinstance(first, NewDocument)
    assert first.text == "file"
    assert second == Rejection(source="documents[0]", reason="key 'a.txt' was taken already by a.txt")
    assert rest == list(given[1:])


def test_a_path_that_does_not_exist_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_documents([tmp_path / "nowhere"], [])
