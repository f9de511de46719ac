"""Rows survive what ends their process, and nobody else's file is touched."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import Conflict, InvalidInput
from evaluation import RowsFile
from evaluation.rows.rows_file import ANSWER, JUDGEMENT, SEARCH


def row(gold: str, text: str = "", fingerprint: str = "f") -> dict[str, Any]:
    return {"fingerprint": fingerprint, "gold": gold, "text": text}


def texts(path: Path) -> list[str]:
    return [json.loads(line)["text"] for line in path.read_bytes().splitlines()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with RowsFile(tmp_path / "new" / "rows.jsonl") as rows:
        rows.keep(ANSWER, "set", row("one", "first"))
        rows.keep(ANSWER, "set", row("two", "второй"))
    return rows.path


def test_what_was_kept_is_found_by_all_of_its_key(path: Path) -> None:
    with RowsFile(path) as rows:
        assert rows.find(ANSWER, "f", "two") == row("two", "второй")
        assert rows.find(ANSWER, "other", "two") is None
        assert rows.find(JUDGEMENT, "f", "two") is None
        assert rows.find(ANSWER, "f", "three") is None


def test_of_two_rows_with_one_key_the_last_counts(path: Path) -> None:
    with RowsFile(path) as rows:
        rows.keep(ANSWER, "set", row("one", "again"))
    with RowsFile(path) as rows:
        assert rows.find(ANSWER, "f", "one") == row("one", "again")


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_a_line_that_was_half_written_is_dropped_and_the_next_stands_alone(path: Path, cut: int) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    with RowsFile(path) as rows:
        assert rows.find(ANSWER, "f", "one") == row("one", "first")
        assert rows.find(ANSWER, "f", "two") is None
        rows.keep(ANSWER, "set", row("two", "again"))
    assert texts(path) == ["first", "again"]


def test_fresh_forgets_all(path: Path) -> None:
    with RowsFile(path, fresh=True) as rows:
        assert rows.find(ANSWER, "f", "one") is None
        rows.keep(ANSWER, "set", row("one", "fresh"))
    assert texts(path) == ["fresh"]


def test_finished_rows_stand_first_and_in_order_and_what_others_paid_for_stays(path: Path) -> None:
    with RowsFile(path) as rows:
        rows.keep(ANSWER, "set", row("one", "other", fingerprint="g"))
        ours = [(SEARCH, "set", {"text": "search"}), (ANSWER, "set", row("two", "b")), (ANSWER, "set", row("one", "a"))]
        rows.finish(ours)
    assert texts(path) == ["search", "b", "a", "other"]
    with RowsFile(path) as rows:
        rows.finish(ours[1:])
    assert texts(path) == ["b", "a", "other"]


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("content", ['{"id": "p1", "text": "x"}\n', '{"id": "p1"}', "notes of mine", "\n[1]\n"])
def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path: Path, content: str, fresh: bool) -> None:
    file = tmp_path / "corpus.jsonl"
    file.write_text(content)
    with pytest.raises(InvalidInput), RowsFile(file, fresh=fresh):
        pass
    assert file.read_text() == content


def test_two_comparisons_do_not_write_one_file(path: Path) -> None:
    with RowsFile(path), pytest.raises(Conflict, match="another with --rows"), RowsFile(path):
        pass
    with RowsFile(path) as rows:
        assert rows.find(ANSWER, "f", "one")


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="name another file"), RowsFile(tmp_path):
        pass
