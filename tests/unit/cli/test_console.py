"""What reaches the terminal and what reaches a program."""

import json
import sys
from datetime import UTC, datetime

import pytest

from cli.output.console import plain, print_json, print_marked, table
from core.documents import Span


def test_control_characters_are_replaced_and_text_is_kept() -> None:
    assert plain("a\x1b[31mb\x07\x9bc\x00") == "a\ufffd[31mb\ufffd\ufffdc\ufffd"
    assert plain("a\u202eb\u2066c\u200fd\u2028") == "a\ufffdb\ufffdc\ufffdd\ufffd"
    assert plain("tab\tline\n北京 é 🙂") == "tab\tline\n北京 é 🙂"
    assert plain("one\r\ntwo\rthree") == "one\ntwo\ufffdthree"


def test_values_of_core_become_json(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"span": Span(start=0, end=2), "at": datetime(2026, 1, 2, tzinfo=UTC), "text": "北"})
    out = capsys.readouterr().out
    assert json.loads(out) == {"span": {"start": 0, "end": 2}, "at": "2026-01-02T00:00:00+00:00", "text": "北"}
    assert "北" in out


def test_json_holds_all_characters_and_none_that_steers_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    text = "".join(map(chr, range(0x100))) + "".join(map(chr, range(0x2000, 0x2070))) + "北🙂"
    print_json({text: text})
    out = capsys.readouterr().out
    assert json.loads(out) == {text: text}
    assert plain(out) == out


def test_a_table_is_not_cut_for_a_program_and_markup_in_it_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    long = "word " * 60
    table(("key", "reason"), [("[red]a[/red]", long.strip())])
    out = capsys.readouterr().out
    assert long.strip() in out
    assert "[red]a[/red]" in out


def test_marks_are_bold_in_a_terminal_only(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    text, marks = "one\x1b two [red]three", [(0, 3), (5, 8)]
    print_marked(text, marks, width=14, indent=2)
    assert capsys.readouterr().out == "  one\ufffd two\n  [red]three\n"
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_marked(text, marks, width=14, indent=2)
    assert capsys.readouterr().out == "  \x1b[1mone\x1b[0m\ufffd \x1b[1mtwo\x1b[0m\n  [red]three\n"
