"""Files and folders as documents."""

import json
from pathlib import Path

import pytest

from hopweave import NewDocument, NewFile, Rejection
from hopweave._files import read_documents


def _read(*paths: Path, documents: tuple[NewDocument | NewFile, ...] = ()) -> list[NewDocument | NewFile | Rejection]:
    return list(read_documents(paths, documents))


def test_a_folder_is_walked_in_order(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "hidden.txt").write_text("hidden")
    (tmp_path / "sub" / "b.md").write_text("# B\n")
    (tmp_path / "sub" / "again").symlink_to(tmp_path)
    (tmp_path / "my file.txt").write_bytes(b"\xff\xfe")
    assert _read(tmp_path) == [
        NewFile(name="my file.txt", content=b"\xff\xfe"),
        NewFile(name="sub/b.md", content=b"# B\n"),
    ]


def test_json_lines(tmp_path: Path) -> None:
    chunk = {"text": "It is so.", "page": 3, "triples": [["it", "is", "so"]]}
    x = {"id": "x", "text": "X", "metadata": {"year": 1}, "media_type": "text/plain"}
    values = [{"id": "own", "chunks": [chunk], "unknown": 1}, x, {"text": 7}, {"title": "neither"}]
    (tmp_path / "two.jsonl").write_text("\n".join([*map(json.dumps, values), "", "{"]))
    own, found, *rejected = _read(tmp_path)
    assert isinstance(own, NewDocument)
    assert own.chunks is not None
    assert (own.key, own.chunks[0].page, own.chunks[0].triples) == ("own", 3, (["it", "is", "so"],))
    assert found == NewDocument(key="x", text="X", metadata={"year": 1})
    reasons = {one.source: one.reason for one in rejected if isinstance(one, Rejection)}
    assert list(reasons) == ["two.jsonl line 3", "two.jsonl line 4", "two.jsonl line 6"]
    assert reasons["two.jsonl line 3"].startswith("`text`")
    assert "either `text` or `chunks`" in reasons["two.jsonl line 4"]


def test_beside_a_corpus_only_the_corpus_is_read(tmp_path: Path) -> None:
    for name in ("corpus.jsonl", "openie.jsonl", "questions.jsonl"):
        (tmp_path / name).write_text(json.dumps({"id": name, "text": name}))
    assert [one.key for one in _read(tmp_path) if isinstance(one, NewDocument)] == ["corpus.jsonl"]


def test_what_cannot_be_read_is_rejected_and_passed_over(tmp_path: Path) -> None:
    (tmp_path / "e.txt").write_text("e")
    (tmp_path / "f.txt").symlink_to(tmp_path / "gone")
    found, link = _read(tmp_path)
    assert found == NewFile(name="e.txt", content=b"e")
    assert isinstance(link, Rejection)


def test_of_two_with_one_key_the_first_is_taken(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("file")
    given = (NewDocument(key="a.txt", text="given"), NewDocument(text="no key"), NewDocument(text="no key"))
    named = NewFile(name="a", key="a.txt", content=b"")
    first, second, *rest = _read(tmp_path / "a.txt", documents=(*given, named))
    assert first == NewFile(name="a.txt", content=b"file")
    assert second == Rejection(source="documents[0]", reason="key 'a.txt' was taken already by a.txt")
    assert rest[:2] == list(given[1:])
    assert isinstance(rest[2], Rejection)


def test_a_path_that_does_not_exist_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_documents([tmp_path / "nowhere"], [])


def test_of_folders_only_files_that_the_server_reads(tmp_path: Path) -> None:
    for name in ("GPL-2.0", "a.TXT", "b.new", "c.old", "d.jsonl", "plain"):
        (tmp_path / name).write_text('{"id": "d", "text": "D"}')
    (tmp_path / "image").write_bytes(b"\x89PNG\r\n")
    (tmp_path / "zeros").write_bytes(bytes(4))
    found = list(read_documents([tmp_path], (), {".txt", ".new"}))
    assert [one.name for one in found if isinstance(one, NewFile)] == ["GPL-2.0", "a.TXT", "b.new", "plain"]
    assert [one.key for one in found if isinstance(one, NewDocument)] == ["d"]
    assert [one for one in found if isinstance(one, Rejection)] == [
        Rejection(source="c.old", reason="no loader reads .old files"),
        Rejection(source="image", reason="it has no suffix, and is not text"),
        Rejection(source="zeros", reason="it has no suffix, and is not text"),
    ]
    [named] = read_documents([tmp_path / "c.old"], (), {".txt"})
    assert isinstance(named, NewFile), "the server decides about a file that is named itself"


def test_gitignore_files_are_honoured_unless_asked(tmp_path: Path) -> None:
    root = tmp_path / "root"
    files = ("a.md", "x.tmp.md", "keep.tmp.md", "build/b.md", "sub/build/c.md", "sub/d.md", "sub/x.tmp.md", "two/d.md")
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    (tmp_path / ".gitignore").write_text("a.md\n")  # above the folder
    (root / ".gitignore").write_text("# comment\nbuild/\n*.tmp.md\n!keep.tmp.md\n\\\n")
    (root / "sub" / ".gitignore").write_text("/d.md\n!x.tmp.md\n")
    sent = [one.name for one in _read(root) if isinstance(one, NewFile)]
    assert sent == ["a.md", "keep.tmp.md", "sub/x.tmp.md", "two/d.md"]
    assert len(list(read_documents([root], (), gitignore=False))) == len(files)
    (root / "sub" / ".gitignore").unlink()
    (root / "sub" / ".gitignore").symlink_to("nowhere")
    assert [one.source for one in _read(root) if isinstance(one, Rejection)] == ["sub/.gitignore"]


def test_links_out_of_the_folder_are_rejected_unless_asked(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for path in (root / "a.md", outside / "secret.md"):
        path.parent.mkdir()
        path.write_text("Text.")
    (root / "b.md").symlink_to(outside / "secret.md")
    (root / "c").symlink_to(outside)
    (root / "d.md").symlink_to("a.md")
    found = list(read_documents([root], ()))
    assert [one.name for one in found if isinstance(one, NewFile)] == ["a.md", "d.md"]
    left_out = {one.source: one.reason for one in found if isinstance(one, Rejection)}
    assert list(left_out) == ["b.md", "c"]
    assert all("leads out" in reason for reason in left_out.values())
    followed = list(read_documents([root], (), follow_links=True))
    names = [one.key or one.name for one in followed if isinstance(one, NewFile)]
    assert names == ["a.md", "b.md", "d.md", "c/secret.md"]
