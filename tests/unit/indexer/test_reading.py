"""From files to submissions: what goes in, what is refused, and that nothing stops the rest."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.documents import Submission
from core.errors import InvalidInput, NotFound
from core.ids import content_hash
from indexer.submission import json_lines
from indexer.submission.json_lines import Rejection
from indexer.submission.reading import read_paths
from indexer.submission.submissions import fingerprint, submission_from_json
from tests.memory import find_peak


def read(*paths: Path, with_given: bool = False) -> tuple[list[Submission], list[Rejection]]:
    found = list(read_paths(paths, with_given=with_given))
    return [f for f in found if isinstance(f, Submission)], [f for f in found if isinstance(f, Rejection)]


def write(path: Path, *lines: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines)
    path.write_text(text + "\n", encoding="utf-8")
    return path


# --- folders and files -----------------------------------------------------------------------------------------------


def test_a_folder_is_walked_in_order_and_keys_are_relative(tmp_path: Path) -> None:
    for name in ("b.txt", "a.md", "sub/ё 中.txt", ".hidden.txt", ".git/x.txt", "sub/.x/y.txt"):
        write(tmp_path / name, "text of " + name)
    taken, refused = read(tmp_path)
    kinds = [(s.key, s.media_type) for s in taken]
    assert kinds == [("a.md", "text/markdown"), ("b.txt", "text/plain"), ("sub/ё 中.txt", "text/plain")]
    assert taken[2].content == "text of sub/ё 中.txt\n".encode()
    assert refused == []


def test_a_single_file_has_its_name_for_a_key(tmp_path: Path) -> None:
    taken, _ = read(write(tmp_path / "deep" / "one.txt", "x"), write(tmp_path / ".two.txt", "y"))
    assert [s.key for s in taken] == ["one.txt", ".two.txt"]


def test_a_path_that_does_not_exist_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"nowhere\.txt"):
        read_paths([write(tmp_path / "a.txt", "x"), tmp_path / "nowhere.txt"], with_given=False)


def test_unknown_suffixes_and_odd_files_do_not_stop_the_rest(tmp_path: Path) -> None:
    write(tmp_path / "a.png", "x")
    write(tmp_path / "b.xyz").write_bytes(b"x\0")
    write(tmp_path / "notes.v2", "x")
    write(tmp_path / "z.txt", "x")
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "broken.txt").symlink_to(tmp_path / "gone")
    (tmp_path / "bad\nname.txt").write_text("x")
    (tmp_path / os.fsdecode(b"undecodable\xff.txt")).write_text("x")
    taken, refused = read(tmp_path)
    assert [s.key for s in taken] == ["notes.v2", "z.txt"]
    reasons = {one.source: one.reason for one in refused}
    assert reasons["a.png"].startswith("no loader reads .png files; there are loaders for .csv, ")
    assert reasons["b.xyz"].startswith("a file with the suffix .xyz is read as text in UTF-8, and this one holds a ")
    assert reasons["pipe.txt"] == "it is no regular file"
    assert reasons["broken.txt"] == "it cannot be read: No such file or directory"
    assert "control character" in reasons["bad\\nname.txt"]
    assert reasons["undecodable\ufffd.txt"].endswith("not UTF-8 holds such halves; rename the file)")


def test_files_without_a_suffix_are_plain_text_if_they_are_utf_8(tmp_path: Path) -> None:
    for name in ("README", "LICENSE-MIT", "sub/Makefile"):
        write(tmp_path / name, "Straße: мир")
    write(tmp_path / "empty").write_bytes(b"")
    odd = {
        "program": b"\x7fELF\x02\x01",
        "zeros": b"text\0",
        "latin": "Straße".encode("cp1252"),
        "cut": b"x" + "ß".encode()[:1],
        "late": b"a" * ((1 << 20) - 1) + "ß".encode() + b"\xff",
    }
    for name, content in odd.items():
        (tmp_path / name).write_bytes(content)
    taken, refused = read(tmp_path)
    assert [s.key for s in taken] == ["LICENSE-MIT", "README", "empty", "sub/Makefile"]
    assert {s.media_type for s in taken} == {"text/plain"}
    what = {"program": "is a program;", "zeros": "holds a zero byte at offset 4;"}
    what |= {name: f"is not UTF-8 at offset {at};" for name, at in (("latin", 4), ("cut", 1), ("late", (1 << 20) + 1))}
    assert {one.key for one in refused} == set(odd)
    for one in refused:
        assert f"this one {what[one.source]} name it by its format's suffix" in one.reason


def test_links_that_lead_back_are_followed_once(tmp_path: Path) -> None:
    write(tmp_path / "in" / "a.txt", "x")
    (tmp_path / "in" / "loop").symlink_to(tmp_path)
    (tmp_path / "again").symlink_to(tmp_path / "in")
    taken, refused = read(tmp_path)
    assert [s.key for s in taken] == ["in/a.txt"]
    assert refused == []


def test_a_json_file_is_a_document(tmp_path: Path) -> None:
    write(tmp_path / "a.json", {"text": "x", "title": "T", "metadata": {"year": 1999}, "id": "other"})
    write(tmp_path / "b.json", {"txt": "x"})
    taken, refused = read(tmp_path)
    assert [(s.key, s.title, s.metadata) for s in taken] == [("a.json", "T", {"year": 1999})]
    [(source, reason)] = [(r.source, r.reason) for r in refused]
    assert (source, reason) == ("b.json", "a document has either `text` or `chunks`; this one has neither")


# --- JSON lines ------------------------------------------------------------------------------------------------------


def test_each_line_is_a_document_of_canonical_json(tmp_path: Path) -> None:
    line: dict[str, Any] = {"id": "p1", "title": "Ж", "text": "中文", "metadata": {"b": 1, "a": [2]}, "other": 1}
    [one], _ = read(write(tmp_path / "x.jsonl", "\ufeff" + json.dumps(line)))
    assert (one.key, one.title, one.metadata) == ("p1", "Ж", {"b": 1, "a": [2]})
    assert one.media_type == "application/vnd.hopweave.document+json"
    assert one.content.decode() == '{"metadata":{"a":[2],"b":1},"text":"中文","title":"Ж"}'
    [same], _ = read(write(tmp_path / "y.jsonl", dict(reversed(line.items()))))
    assert fingerprint(same) == fingerprint(one)


def test_a_bad_line_is_named_and_the_others_go_in(tmp_path: Path) -> None:
    path = write(
        tmp_path / "d" / "x.jsonl",
        {"id": "a", "text": "x"},
        "{broken",
        "",
        {"id": "b"},
        [1],
        {"id": 5, "text": "x"},
        {"id": "../up", "text": "x"},
        '{"id": "s", "text": "\\udc00"}',
        {"id": "a", "text": "again"},
        {"id": "z", "text": "", "triples": [["only", "two"]]},
    )
    taken, refused = read(path.parent)
    assert [s.key for s in taken] == ["a", "z"]
    assert [r.source for r in refused] == [f"x.jsonl line {n}" for n in (2, 4, 5, 6, 7, 8, 9)]
    said = "not valid JSON", "neither", "JSON object", "`id` must be a string", "'..'", "surrogate", "x.jsonl line 1"
    assert all(part in rejected.reason for rejected, part in zip(refused, said, strict=True))


def test_half_a_surrogate_pair_is_named_by_key_and_field_and_passed_over(tmp_path: Path) -> None:
    half = "half \ud83d"
    documents: list[dict[str, object]] = [
        {"id": "a", "text": "whole"},
        {"id": "b", "text": half},
        {"id": "c", "title": half, "text": "x"},
        {"id": "d", "text": "x", "metadata": {"tags": ["whole", half]}},
        {"id": "e", "text": "x", "metadata": {half: 1}},
        {"id": "f", "chunks": [{"text": "x"}, {"text": "x", "entities": [half]}]},
        {"id": "g", "text": "x", "triples": [["Ada", "knew", half]]},
        {"id": half, "text": "x"},
        {"id": "z", "text": "whole \U0001f642"},
    ]
    path = write(tmp_path / "x.jsonl", *(json.dumps(one) for one in documents))
    taken, refused = read(path)
    assert [s.key for s in taken] == ["a", "z"]
    places = ("`text`", "`title`", "`metadata.tags[1]`", "`metadata.'half \\ud83d'`", "`chunks[1].entities[0]`")
    what = [f"document '{key}': {place}" for key, place in zip("bcdefg", (*places, "`triples[0][2]`"), strict=True)]
    said = "holds half of a surrogate pair, which is not a character; send valid Unicode"
    reasons = [r.reason.partition(" (")[0] for r in refused]
    assert reasons == [f"{one} {said}" for one in (*what, "document key 'half \\ud83d'")]


def test_a_key_twice_in_one_call_names_both_places(tmp_path: Path) -> None:
    one, two = write(tmp_path / "1" / "a.txt", "x"), write(tmp_path / "2" / "b.jsonl", {"id": "a.txt", "text": "y"})
    taken, [refused] = read(one, two)
    assert [s.content for s in taken] == [b"x\n"]
    assert (refused.source, "'a.txt' was taken already by a.txt" in refused.reason) == ("b.jsonl line 1", True)


def test_a_line_that_is_too_long_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "MAX_LINE_BYTES", 64)
    path = write(tmp_path / "x.jsonl", {"id": "a", "text": "x" * 500}, {"id": "b", "text": "y"})
    taken, refused = read(path)
    assert [s.key for s in taken] == ["b"]
    assert [(r.source, "longer than 64 bytes" in r.reason) for r in refused] == [("x.jsonl line 1", True)]


_MOST_BYTES = 12_000_000


def _count(path: Path, expected: int) -> None:
    assert sum(isinstance(read, Submission) for read in read_paths([path], with_given=False)) == expected


def test_lines_are_read_as_a_stream(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", *({"id": str(n), "text": "x" * 100_000} for n in range(200)))  # 20 MB
    assert find_peak(lambda: _count(path, 200), below=_MOST_BYTES) < _MOST_BYTES


def test_a_folder_of_many_tiny_files_is_read_in_little_memory(tmp_path: Path) -> None:
    for number in range(4_000):
        write(tmp_path / f"{number % 8}" / f"{number}.txt", f"Note {number}. " * 500)  # 24 MB in all
    _count(tmp_path, 4_000)  # modules are imported
    assert find_peak(lambda: _count(tmp_path, 4_000), below=_MOST_BYTES) < _MOST_BYTES


# --- what was given beside a corpus ----------------------------------------------------------------------------------


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    write(tmp_path / "corpus.jsonl", {"id": "p1", "text": "one", "entities": ["own"]}, {"id": "p2", "text": "two"})
    write(tmp_path / "questions.jsonl", {"id": "q", "question": "?"})
    write(
        tmp_path / "openie.jsonl",
        {"id": "p2", "entities": ["Ada"], "triples": [["a", "b", "c"], ["x", "y"]]},
        {"id": "p1", "entities": ["Bob"]},
        {"id": "p2", "entities": ["again"]},
        "{broken",
        {"id": "p9", "entities": []},
        {"id": "p1x", "entities": "no list"},
        {"entities": []},
    )
    return tmp_path


def test_what_was_given_joins_the_passage_with_its_id(dataset: Path) -> None:
    taken, refused = read(dataset, with_given=True)
    contents = {s.key: json.loads(s.content) for s in taken}
    assert contents["p1"] == {"text": "one", "entities": ["own", "Bob"], "triples": []}
    assert contents["p2"] == {"text": "two", "entities": ["Ada"], "triples": [["a", "b", "c"], ["x", "y"]]}
    reasons = {r.source: r.reason for r in refused}
    assert sorted(reasons) == [f"openie.jsonl line {n}" for n in (3, 4, 5, 6, 7)]
    assert "given already in line 1" in reasons["openie.jsonl line 3"]
    assert "no passage beside it has the id 'p9'" in reasons["openie.jsonl line 5"]
    assert "`entities` must be a list" in reasons["openie.jsonl line 6"]
    assert "`id` must be a string" in reasons["openie.jsonl line 7"]
    assert read(dataset / "corpus.jsonl", with_given=True)[0] == taken


def test_what_was_given_is_left_alone_where_it_is_not_wanted(dataset: Path) -> None:
    taken, refused = read(dataset)
    assert [json.loads(s.content) for s in taken] == [{"text": "one", "entities": ["own"]}, {"text": "two"}]
    assert refused == []


def test_without_a_corpus_the_same_names_are_files_like_others(tmp_path: Path) -> None:
    write(tmp_path / "questions.jsonl", {"id": "q", "text": "x"})
    assert [s.key for s in read(tmp_path)[0]] == ["q"]


# --- the API's documents ---------------------------------------------------------------------------------------------


def test_a_document_without_a_key_is_named_by_its_content() -> None:
    one = submission_from_json({"title": "T", "text": "x"})
    assert one.key == content_hash(one.content)
    assert submission_from_json({"text": "x", "title": "T", "key": None}).key == one.key
    assert submission_from_json({"key": "k", "id": "i", "text": "x"}).key == "k"


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"key": 5, "text": "x"}, "`key` must be a string"),
        ({"key": " ", "text": "x"}, "key is empty"),
        ({"text": ["x"]}, "`text` must be a string, not a list"),
        ({"chunks": [{"text": "x", "triples": {}}]}, r"`chunks\[0\].triples` must be a list, not an object"),
        ({"text": "x", "metadata": {"a": float("nan")}}, "cannot be written as JSON"),
        ({"text": "x", "metadata": {"a": {1, 2}}}, "cannot be written as JSON"),
    ],
)
def test_a_wrong_document_is_refused_with_its_field(document: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        submission_from_json(document)


def test_the_fingerprint_covers_all_that_makes_a_revision() -> None:
    base = Submission(key="k", content=b"x", media_type="text/plain", title=None, metadata={"a": 1, "b": 2})
    changes: list[dict[str, Any]] = [
        *({"key": "k2"}, {"content": b"y"}, {"media_type": "text/markdown"}, {"title": ""}, {"metadata": {"a": 1}})
    ]
    assert len({fingerprint(one) for one in [base, *(replace(base, **change) for change in changes)]}) == 6
    assert fingerprint(replace(base, metadata={"b": 2, "a": 1})) == fingerprint(base)


def test_json_with_comments_is_plain_text(tmp_path: Path) -> None:
    write(tmp_path / "a.json", "{", "  // The name", '  "Name": "x", /* short */', "}")
    write(tmp_path / "b.json", "/* Settings", "*/", "{}")
    write(tmp_path / "c.json", "{", '  "Name": "http://x",', "}")
    write(tmp_path / "d.json", "[", "  // A list of documents", '  {"id": "x", "text": "x"}]')
    (tmp_path / "e.json").write_bytes(b"{\n// \x00\n}")
    taken, refused = read(tmp_path)
    assert [(s.key, s.media_type) for s in taken] == [("a.json", "text/plain"), ("b.json", "text/plain")]
    assert [(r.source, r.hides) for r in refused] == [("c.json", False), ("d.json", True), ("e.json", False)]
