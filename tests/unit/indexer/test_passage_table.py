"""Tables of passages, such as DPR's Wikipedia: what is recognised, each line a document, and damage by its line."""

import gzip
import json
from pathlib import Path

import pytest

from core.documents import Submission
from indexer.submission import json_lines, passage_table, reading
from indexer.submission.json_lines import Rejection
from indexer.submission.reading import KeySet, TakenKeys, read_paths
from tests.memory import find_peak

HEADER = "id\ttext\ttitle\n"
AARON = '1\t"Aaron Aaron ( or ; ""Ahärôn"") is a prophet, high priest,\tand brother"\tAaron\n'
LINES = HEADER + AARON + '2\tGod at Sinai\t"The ""Golden"" Calf"\n'


def read(*paths: Path) -> tuple[list[Submission], list[Rejection]]:
    found = list(read_paths(paths, with_given=False))
    return [f for f in found if isinstance(f, Submission)], [f for f in found if isinstance(f, Rejection)]


def write(path: Path, text: str) -> Path:
    content = text.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("name", ["psgs_w100.tsv", "psgs_w100.tsv.gz", "PSGS.TSV"])
def test_each_line_is_a_document(tmp_path: Path, name: str) -> None:
    taken, refused = read(write(tmp_path / name, LINES))
    assert refused == []
    assert [(one.key, one.title) for one in taken] == [("1", "Aaron"), ("2", 'The "Golden" Calf')]
    assert json.loads(taken[0].content)["text"].startswith('Aaron Aaron ( or ; "Ahärôn") is a prophet, high priest,\t')


def test_a_document_is_that_of_a_json_line(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text(json.dumps({"id": "2", "title": 'The "Golden" Calf', "text": "God at Sinai"}))
    assert read(tmp_path / "one.jsonl")[0] == read(write(tmp_path / "two.tsv", LINES))[0][1:]


def test_a_passage_may_be_as_long_as_a_json_line(tmp_path: Path) -> None:
    long = "word " * 40_000
    taken, refused = read(write(tmp_path / "long.tsv", f"{HEADER}1\t{long}\tLong\n"))
    assert refused == []
    assert json.loads(taken[0].content)["text"] == long


def test_a_line_that_is_too_long_is_refused_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (json_lines, passage_table):
        monkeypatch.setattr(module, "MAX_LINE_BYTES", 1000)
    table = f"id\ttitle\ttext\n1\tLong\t{'word ' * 300}\n2\tShort\ttext\n"
    taken, refused = read(write(tmp_path / "long.tsv", table))
    assert [one.key for one in taken] == ["2"]
    [one] = refused
    assert one.source.endswith("long.tsv line 2")
    assert "longer than 1,000 bytes" in one.reason


@pytest.mark.parametrize("header", ["id\ttitle\ttext\r\n", "\ufeffid\ttext\ttitle\n", '"id"\t"text"\t"title"\n'])
def test_the_header_names_the_columns_in_any_order(tmp_path: Path, header: str) -> None:
    (one,), refused = read(write(tmp_path / "a.tsv", header + "7\tseven\tseven\r\n"))
    assert (one.key, one.title, json.loads(one.content)["text"], refused) == ("7", "seven", "seven", [])


@pytest.mark.parametrize(
    "header", ["id\ttext\n", "id,text,title\n", "id\ttext\ttitle\turl\n", "", "name\tborn\tdied\n"]
)
def test_another_table_is_one_document(tmp_path: Path, header: str) -> None:
    (one,), _ = read(write(tmp_path / "a.tsv", header + "1\t2\t3\n"))
    assert (one.key, one.media_type) == ("a.tsv", "text/csv")


def test_a_damaged_line_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    bad = [b'1\t"not closed\tA\n', b"2\tno title\n", b"3\t\xff\tC\n", b"\tnone\tD\n", b'5\t"a " b"\tE\n', b"\n"]
    path.write_bytes(b"".join([HEADER.encode(), *bad, b"7\tfine\tG\n", b"7\tagain\tG\n"]))
    taken, refused = read(path)
    assert [one.key for one in taken] == ["7"]
    reasons = {one.source: one.reason for one in refused}
    assert list(reasons) == [f"a.tsv line {n}" for n in (2, 3, 4, 5, 6, 9)]
    assert reasons["a.tsv line 2"].startswith("its quotation marks are wrong")
    assert reasons["a.tsv line 3"].startswith("it has 2 of the 3 columns id, text, title; put a tab between them")
    assert reasons["a.tsv line 4"].startswith("not UTF-8: byte 2")
    assert reasons["a.tsv line 5"] == "it has no id"
    assert "taken already by a.tsv line 8" in reasons["a.tsv line 9"]


def test_a_compressed_file_that_is_cut_off(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv.gz", HEADER + "".join(f"{n}\ttext {n * n}\tT{n}\n" for n in range(1, 20_000)))
    path.write_bytes(path.read_bytes()[:40_000])
    taken, (refused,) = read(path)
    assert 1000 < len(taken) < 19_999
    assert refused.source == f"a.tsv.gz line {len(taken) + 1}"
    assert "damaged or cut off" in refused.reason
    assert refused.hides


def test_what_only_has_the_name_of_one(tmp_path: Path) -> None:
    (tmp_path / "a.tsv.gz").write_bytes(b"no gzip")
    _, (refused,) = read(tmp_path / "a.tsv.gz")
    assert refused.reason.startswith("it is no gzip file")
    _, (refused,) = read(write(tmp_path / "b.tsv.gz", "name\tage\n"))
    assert "the first line names the columns, with tabs between them: id, text, title" in refused.reason


def test_a_part_without_the_first_line_is_not_taken_for_one_document(tmp_path: Path) -> None:
    _, (refused,) = read(write(tmp_path / "a.tsv", f"1\t{'Aaron is a prophet. ' * 10}\tAaron\n" * 3))
    assert refused.reason.startswith("it seems to be a table of passages without its first line")
    (other,), refused_others = read(write(tmp_path / "b.tsv", "1\tAaron\tprophet\n" * 3))
    assert (other.key, refused_others) == ("b.tsv", [])


def test_names_of_columns_in_capitals_and_a_table_without_passages(tmp_path: Path) -> None:
    (taken,), _ = read(write(tmp_path / "a.tsv", "ID\tText\tTitle\n1\tAaron is a prophet.\tAaron\n"))
    assert taken.key == "1"
    reason = "it has no line after the one that names the columns"
    assert read(write(tmp_path / "a.tsv", HEADER)) == ([], [Rejection(source="a.tsv", reason=reason)])


def test_memory_does_not_grow_with_the_lines(tmp_path: Path) -> None:
    def table_of(count: int) -> Path:
        path = tmp_path / f"{count}.tsv"
        with path.open("w") as file:
            file.write(HEADER)
            file.writelines(f"{n}\tSome text of a passage.\tTitle {n}\n" for n in range(1, count + 1))
        return path

    def count(path: Path) -> int:
        return sum(1 for _ in read_paths([path], with_given=False))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "_NAMED", 500)
        short, long = table_of(1_500), table_of(15_000)
        assert (count(short), count(long)) == (1_500, 15_000)  # what is imported and compiled at first
        bound = find_peak(lambda: count(short)) + 13_500 * 10  # each key of them would take a hundred bytes
        assert find_peak(lambda: count(long), bound) < bound


def test_keys_are_a_set_whatever_they_are() -> None:
    given = ["0", "1", "01", "x", "7", "70000000", "2147483648", "٣", "-1", ""]
    keys = KeySet()
    for key in [*given, *given]:
        keys.add(key)
    assert sorted(keys) == sorted(given)
    assert len(keys) == len(given)
    assert all(key in keys for key in given)
    assert not any(key in keys for key in ("2", "00", "y", "70000001", 7))


def test_the_source_of_a_key_is_named_for_the_first_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_NAMED", 2)
    taken = TakenKeys()
    assert [taken.take(key, f"line {key}") for key in ("1", "2", "3", "x")] == [None] * 4
    told = [taken.take(key, "later") for key in ("1", "2", "3", "x")]
    assert told == ["line 1", "line 2", *["a document before it"] * 2]
