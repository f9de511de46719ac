"""Rows survive what ends their process, and nobody else's file is touched."""

import fcntl
import json
import os
import resource
import signal
from pathlib import Path
from typing import Any

import pytest

from core.errors import Conflict, InvalidInput, Unavailable
from evaluation import RowsFile, read_answers
from evaluation.judging import JudgementRow
from evaluation.rows.answer_rows import AnswerRow
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


def test_what_was_kept_is_found_by_all_of_its_key_and_of_two_rows_the_last_counts(path: Path) -> None:
    with RowsFile(path) as rows:
        assert rows.find(ANSWER, "f", "two") == row("two", "второй")
        assert rows.find(ANSWER, "other", "two") is None
        assert rows.find(JUDGEMENT, "f", "two") is None
        assert rows.find(ANSWER, "f", "three") is None
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


@pytest.mark.parametrize("line", ['{"kind": "answer", ', "[1]"])
def test_a_line_that_is_no_row_is_refused_with_what_to_do(path: Path, line: str) -> None:
    content = f"{line}\n".encode() + path.read_bytes()
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=r"line 1: .*; delete the line, or name another file"), RowsFile(path):
        pass
    with pytest.raises(InvalidInput, match=r"line 1: .*; delete the line"):
        read_answers(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"cost": {}}, "a row lacks cached, calls, completion_tokens, prompt_tokens"),
        ({"relevance": "2"}, "relevance"),
        ({"gain": {"1": "much"}}, "gain"),
        ({"chunks": "c1"}, "chunks"),
        ({"models": [{"name": "m", "temperature": "hot"}]}, "temperature"),
    ],
)
def test_a_changed_judgement_is_refused(change: dict[str, Any], said: str) -> None:
    judgement = JudgementRow(question_id="q", reasoner="cot")
    fields = json.loads(json.dumps(judgement.to_json()))
    earlier = {name: value for name, value in fields.items() if name not in ("models", "reference_from")}
    assert JudgementRow.from_json(fields) == JudgementRow.from_json(earlier) == judgement
    with pytest.raises(ValueError, match=said):
        JudgementRow.from_json({**fields, **change})


def test_two_comparisons_do_not_write_one_file(path: Path) -> None:
    with RowsFile(path), pytest.raises(Conflict, match="another with --rows"), RowsFile(path):
        pass
    with RowsFile(path) as rows:
        assert rows.find(ANSWER, "f", "one")


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="name another file"), RowsFile(tmp_path):
        pass
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInput, match="pipe is no ordinary file"), RowsFile(tmp_path / "pipe"):
        pass


def test_a_row_that_was_changed_is_named_with_its_question(path: Path) -> None:
    with RowsFile(path) as rows:
        assert rows.restore(ANSWER, "f", "one", lambda fields: fields["text"]) == "first"
        assert rows.restore(ANSWER, "f", "three", lambda fields: fields["text"]) is None
        rows.keep(ANSWER, "set", {**row("one"), "question_id": "q1", "scores": None})
        with pytest.raises(InvalidInput, match=r"rows\.jsonl: the answer of question 'q1' was changed .* --fresh"):
            rows.restore(ANSWER, "f", "one", AnswerRow.from_json)


@pytest.mark.parametrize(
    "change",
    [
        {"scores": None},
        {"scores": {"em": "1", "f1": 1.0}},
        {"seconds": "x"},
        {"cost": None},
        {"cost": {"calls": None, "cached": 0, "prompt_tokens": 0, "completion_tokens": 0}},
        {"steps": [1]},
        {"steps": [{"id": "1", "question": "?", "answer": "", "depth": 0}]},
        {"answerable": "yes"},
        {"retrieved": "p1"},
        {"reviews": [{"step": "1", "verdict": "PASS", "before": "", "after": "", "before_f1": "x", "after_f1": None}]},
        {"prompts": [{"role": "plan", "calls": "2", "longest": 9}]},
        {"models": [{"name": "m", "temperature": "hot"}]},
        {"told": "by another release"},
    ],
)
def test_a_changed_answer_is_refused_before_anything_is_asked(change: dict[str, Any]) -> None:
    answer = AnswerRow(
        question_id="q", question="Who?", reasoner="cot", answer="Bob", abstained=False, retrieved=(),
        scores={"em": 1.0, "f1": 1.0}, seconds=0.1,
    )  # fmt: skip
    fields = json.loads(json.dumps(answer.to_json()))
    assert AnswerRow.from_json(fields) == answer
    with pytest.raises(ValueError, match=r"a row lacks|validation error|`scores` lacks"):
        AnswerRow.from_json({**fields, **change})


def test_a_file_that_was_replaced_while_it_was_opened_takes_no_rows(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = fcntl.flock

    def replace_then_lock(file: Any, how: int) -> None:
        other = tmp_path / "new" / "other"
        other.write_bytes(path.read_bytes())
        other.replace(path)  # as another comparison does at its end
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", replace_then_lock)
    with pytest.raises(Conflict, match="was replaced by another comparison just now"), RowsFile(path):
        pass


def test_a_full_disk_is_named_and_the_rows_before_are_kept(path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with RowsFile(path) as rows:
            resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 20, hard))
            with pytest.raises(Unavailable, match="cannot be written: File too large; the rows so far are kept"):
                rows.keep(ANSWER, "set", row("three", "third"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    with RowsFile(path) as rows:
        assert rows.find(ANSWER, "f", "two") is not None
        assert rows.find(ANSWER, "f", "three") is None
