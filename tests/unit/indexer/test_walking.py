"""Which files of a folder are read: patterns, .gitignore, links, odd names and what cannot be read."""

import json
import os
import sys
from pathlib import Path

import pytest

from core.documents import Submission
from core.errors import InvalidInput
from indexer.submission.json_lines import Rejection
from indexer.submission.reading import read_paths
from indexer.submission.walking import EVERYTHING, Selection, printable


def make(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"text of {name}\n", encoding="utf-8")


def read(folder: Path, selection: Selection = EVERYTHING) -> tuple[list[str], list[Rejection]]:
    found = list(read_paths([folder], with_given=False, selection=selection))
    keys = [one.key for one in found if isinstance(one, Submission)]
    return keys, [one for one in found if isinstance(one, Rejection)]


def keys(folder: Path, **options: object) -> list[str]:
    found, rejected = read(folder, Selection(**options))  # type: ignore[arg-type]
    assert rejected == []
    return found


def test_patterns_choose_files_and_folders(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b.txt", "docs/c.md", "docs/drafts/d.md", "drafts/e.md")
    assert keys(tmp_path) == ["a.md", "b.txt", "docs/c.md", "docs/drafts/d.md", "drafts/e.md"]
    assert keys(tmp_path, include=("*.md",)) == ["a.md", "docs/c.md", "docs/drafts/d.md", "drafts/e.md"]
    assert keys(tmp_path, include=("*.md",), exclude=("drafts/",)) == ["a.md", "docs/c.md"]
    assert keys(tmp_path, include=("docs/", "*.txt")) == ["b.txt", "docs/c.md", "docs/drafts/d.md"]
    assert keys(tmp_path, exclude=("/drafts/", "b.*")) == ["a.md", "docs/c.md", "docs/drafts/d.md"]
    assert keys(tmp_path, include=("docs/*.md",)) == ["docs/c.md"]
    assert keys(tmp_path, include=("**/drafts/**",)) == ["docs/drafts/d.md", "drafts/e.md"]


def test_a_selection_says_what_it_covers_by_key() -> None:
    selection = Selection(include=("*.md",), exclude=("drafts/",))
    keys = ("a.md", "x/a.md", "a.txt", "drafts/a.md", "p1")
    assert [key for key in keys if selection.covers(key)] == ["a.md", "x/a.md"]


@pytest.mark.parametrize("option", ["include", "exclude"])
def test_a_wrong_pattern_is_named(tmp_path: Path, option: str) -> None:
    with pytest.raises(InvalidInput, match=rf"--{option} .* is no valid pattern"):
        read_paths([tmp_path], with_given=False, selection=Selection(**{option: ("a\\",)}))  # type: ignore[arg-type]


def test_gitignore_files_are_honoured_unless_asked(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "build/b.md", "keep.tmp.md", "x.tmp.md")
    make(tmp_path / "sub", "build/c.md", "d.md", "e.md", "x.tmp.md")
    (tmp_path / ".gitignore").write_text("# comment\nbuild/\n*.tmp.md\n!keep.tmp.md\n\\\n", encoding="utf-8")
    (tmp_path / "sub" / ".gitignore").write_text("/d.md\n!x.tmp.md\n", encoding="utf-8")
    assert keys(tmp_path) == ["a.md", "keep.tmp.md", "sub/e.md", "sub/x.tmp.md"]
    assert len(keys(tmp_path, gitignore=False)) == 8


def test_no_link_is_followed_twice(tmp_path: Path) -> None:
    make(tmp_path, "z/a.txt", "z/.hidden/h.txt")
    outside = tmp_path.with_name(tmp_path.name + "-outside")
    make(outside, "o.txt", "deep/p.txt")
    (tmp_path / "a-link.txt").symlink_to(tmp_path / "z" / "a.txt")
    (tmp_path / "b-folder").symlink_to(tmp_path / "z")
    (tmp_path / "c-out").symlink_to(outside)
    (tmp_path / "d-out").symlink_to(outside)
    (tmp_path / "e-one.txt").symlink_to(outside / "o.txt")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (outside / "back").symlink_to(tmp_path)
    found, rejected = read(tmp_path, Selection(follow_links=True))
    assert found == ["z/a.txt", "c-out/o.txt", "c-out/deep/p.txt"]
    assert [(one.source, one.reason.partition(":")[0]) for one in rejected] == [("loop", "it cannot be read")]


def test_links_out_of_the_folder_are_rejected(tmp_path: Path) -> None:
    """Whoever may write a folder must not choose what else of the machine is indexed."""
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    make(folder, "a.txt", "sub/b.txt")
    make(outside, "secret.txt", "deep/p.txt")
    (folder / "c.txt").symlink_to(outside / "secret.txt")
    (folder / "root").symlink_to("/")
    (folder / "sub" / "up").symlink_to("../../outside")
    (folder / "within.txt").symlink_to("sub/b.txt")
    (folder / "left.log").symlink_to(outside / "secret.txt")
    selection = Selection(exclude=("*.log",))
    found, rejected = read(folder, selection)
    assert found == ["a.txt", "sub/b.txt"]
    assert [one.source for one in rejected] == ["c.txt", "root", "sub/up"]
    assert all("leads out of the folder" in one.reason and "--follow-links" in one.reason for one in rejected)
    named = tmp_path / "named"
    named.symlink_to(folder)
    assert read(named, selection)[0] == ["a.txt", "sub/b.txt"], "the folder itself may be a link"


def test_the_same_file_under_two_names_is_two_documents_and_a_link_is_none(tmp_path: Path) -> None:
    make(tmp_path, "a.txt")
    (tmp_path / "b.txt").hardlink_to(tmp_path / "a.txt")
    (tmp_path / "c.txt").symlink_to("a.txt")
    assert keys(tmp_path) == ["a.txt", "b.txt"]


def test_odd_names_do_not_stop_the_rest(tmp_path: Path) -> None:
    long = "n" * 250 + ".txt"
    names = ["<script>alert(1)</script>.txt".replace("/", "∕"), "\u202etxt.exe.txt", long, "ordinary.txt"]
    make(tmp_path, *names)
    (tmp_path / "new\nline.txt").write_text("x", encoding="utf-8")
    (tmp_path / "\x1b[2J.txt").write_text("x", encoding="utf-8")
    found, rejected = read(tmp_path)
    assert sorted(found) == sorted(names)
    assert [one.source for one in rejected] == ["\\x1b[2J.txt", "new\\nline.txt"]
    assert all("control character" in one.reason for one in rejected)


def test_what_a_message_shows_is_on_one_line_and_written_from_left_to_right() -> None:
    assert printable("a\nb\u202ec\x07") == "a\\nb\\u202ec\\x07"


def test_pipes_are_not_opened(tmp_path: Path) -> None:
    make(tmp_path, "a.txt")
    os.mkfifo(tmp_path / "pipe.txt")
    found, [rejected] = read(tmp_path)
    assert (found, rejected.source, rejected.reason) == (["a.txt"], "pipe.txt", "it is no regular file")
    assert (rejected.key, rejected.hides) == ("pipe.txt", False)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root can read everything")
def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    make(tmp_path, "a.txt", "b.txt", "closed/c.txt", "d.jsonl")
    for name in ("b.txt", "closed", "d.jsonl"):
        (tmp_path / name).chmod(0)
    found, rejected = read(tmp_path)
    (tmp_path / "closed").chmod(0o700)
    assert found == ["a.txt"]
    told = {one.source.rpartition("/")[2]: (one.key, one.hides) for one in rejected}
    assert told == {"b.txt": ("b.txt", False), "d.jsonl": ("d.jsonl", True), "closed": (None, True)}


def test_a_folder_that_cannot_be_listed_hides_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a.txt", "closed/b.txt", "open/c.txt")
    scan = os.scandir

    def refuse(path: Path) -> object:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found, [rejected] = read(tmp_path)
    assert found == ["a.txt", "open/c.txt"]
    assert rejected.reason == "the folder cannot be read: Permission denied"
    assert rejected.hides


def test_a_json_list_is_many_documents(tmp_path: Path) -> None:
    items = [
        {"id": "a", "text": "x", "metadata": {"n": 1}},
        {"key": "b", "chunks": [{"text": "y"}]},
        {"text": "no key"},
    ]
    wrong = [{"id": "c"}, 5, {"id": 7, "text": "x"}, {"id": "a", "text": "again"}]
    (tmp_path / "l.json").write_text(json.dumps([*items, *wrong]), encoding="utf-8")
    found, rejected = read(tmp_path)
    assert found[:2] == ["a", "b"]
    assert len(found) == 3
    told = [(one.source, one.key, one.hides) for one in rejected]
    assert told == [(f"l.json item {number}", key, False) for number, key in enumerate(("c", None, None, "a"), 4)]
    lines = tmp_path / "lines"
    lines.mkdir()
    (lines / "l.jsonl").write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
    assert read(lines)[0] == found


@pytest.mark.parametrize(
    ("content", "key", "hides", "reason"),
    [
        ("[]", None, False, "the list has no documents"),
        ("[{", "l.json", True, "not valid"),
        ("{", "l.json", False, "not valid"),
    ],
)
def test_a_broken_json_list_hides_documents(tmp_path: Path, content: str, key: str, hides: bool, reason: str) -> None:
    (tmp_path / "l.json").write_text(content, encoding="utf-8")
    _, [rejected] = read(tmp_path)
    assert (rejected.key, rejected.hides) == (key, hides)
    assert reason in rejected.reason


def test_a_broken_line_keeps_its_key_as_far_as_it_can_be_made_out(tmp_path: Path) -> None:
    keyed = '{"id": "a", "text": ', '{"text": "x" "key": "b\\u00e9"}', '{"id": "c", "text": 5}'
    (tmp_path / "l.jsonl").write_text("\n".join([*keyed, "nothing", '{"id": "\\x"']), encoding="utf-8")
    _, rejected = read(tmp_path)
    assert [one.key for one in rejected] == ["a", "bé", "c", None, None]
    assert not any(one.hides for one in rejected)
