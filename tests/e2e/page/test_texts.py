"""What the page makes of texts: JSON typed wrongly, lines of PDF files, quotes, steps, and words of the server."""

from typing import Any

import pytest
from playwright.sync_api import Page

from reasoning.verification import verifier
from tests.e2e.page.conftest import OpenPage

_VALUE = 'a value such as "Paris", 1990, true or ["en", "de"]'


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    return open_page("/help")


def _call(page: Page, module: str, function: str, *values: Any) -> Any:
    script = """async ([module, name, values]) => {
        const main = document.querySelector('script[type=module]').src;
        return (await import(new URL(module, main)))[name](...values);
    }"""
    return page.evaluate(script, [module, function, list(values)])


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (
            '{"year": ',
            'At character 10, a value such as "Paris", 1990, true or ["en", "de"] is needed, but the text ends.',
        ),
        ("{year: 1}", "At character 2, a name in double quotes is needed, not y."),
        ('{"year" 1}', "At character 9, a colon is needed, not 1."),
        ('{"a": 1 "b": 2}', 'At character 9, a comma or } is needed, not ".'),
        ('{"a": 1,}', "At character 9, a name in double quotes is needed, not }."),
        ('{"a": "x', "At character 9, the closing double quote is needed, but the text ends."),
        ('{"a": 1}}', "At character 9, the end of the text is needed, not }."),
        ('{"🙂": x}', f"At character 7, {_VALUE} is needed, not x."),
        ('{"a": 1\n"b": 2}', 'At character 1 of line 2, a comma or } is needed, not ".'),
        ("[" * 5000, "It is nested too deeply."),
    ],
)
def test_wrong_json_is_told_with_its_place(page: Page, text: str, wrong: str) -> None:
    assert _call(page, "core/json.js", "readJson", text)["wrong"] == wrong


def test_a_filter_is_an_object(page: Page) -> None:
    assert [_call(page, "core/json.js", "explainFilter", text) for text in ("", " ", '{"a": {"$gte": 1}}')] == [""] * 3
    for text in ("[1]", "1", "null", '"a"'):
        assert _call(page, "core/json.js", "explainFilter", text).startswith("The filter is not an object")


@pytest.mark.parametrize(
    ("lines", "joined"),
    [
        ("a line\nand another\n\na paragraph", "a line and another\n\na paragraph"),
        ("北京大学\n位于北京", "北京大学\u200b位于北京"),
        ("They are\n- one\n- two\n1. three", "They are\n- one\n- two\n1. three"),
        ("| a | b |\n| c | d |\nend", "| a | b |\n| c | d |\nend"),
        ("alone", "alone"),
    ],
)
def test_lines_of_a_paragraph_are_joined_and_nothing_moves(page: Page, lines: str, joined: str) -> None:
    assert _call(page, "core/text.js", "joinLines", lines) == joined
    assert len(lines) == len(joined)


@pytest.mark.parametrize(
    ("text", "end", "whole"),
    [("It was. Then", 6, 7), ("It was?! Then", 6, 8), ("It is 3.5 m", 7, 7), ("他来了。", 3, 4), ("It was", 6, 6)],
)
def test_a_quote_has_the_mark_that_ends_its_sentence(page: Page, text: str, end: int, whole: int) -> None:
    [span] = _call(page, "core/text.js", "toSentenceEnd", text, [{"start": 0, "end": end}])
    assert span == {"start": 0, "end": whole}


def test_steps_are_counted_and_tags_are_filled(page: Page) -> None:
    script = """async () => {
        const main = document.querySelector('script[type=module]').src;
        const { nameOfStep, namesOfSteps, readableSteps } = await import(new URL('asking/steps.js', main));
        const step = (id, question, answer, parents = []) => [id, { id, question, answer, parents }];
        const steps = readableSteps(new Map([
            step('Q0.1', 'Where?', ''),
            step('Q1.1', 'Who wrote A4.1?', 'Ada'),
            step('Q2.1', 'Born <A1.1>, A0.1, <A9.9>?', '', ['Q1.1', 'Q0.1']),
        ]));
        const needs = one => one.parents.length ? namesOfSteps(one.parents, steps) : '';
        return steps.map(one => [nameOfStep(one), one.question, needs(one)]);
    }"""
    assert page.evaluate(script) == [
        ["Step 1 of 3", "Where?", ""],
        ["Step 2 of 3", "Who wrote A4.1?", ""],
        ["Step 3 of 3", "Born Ada, (the answer of step 1), …?", "steps 2, 1"],
    ]


def test_a_verification_without_budget_is_told_without_parameters(page: Page) -> None:
    told = _call(page, "asking/answer/roles.js", "inWords", f"not all documents were verified: {verifier._OVER}")
    assert told.startswith("Not decided: the check has used up")
    assert "verify_budget" not in told
    assert _call(page, "asking/answer/roles.js", "inWords", "the model failed") == "the model failed"


def test_files_that_no_suffix_tells_are_left_to_the_server(page: Page) -> None:
    """The field for files has no `accept`, which would hide such files; this sorts what was chosen."""
    names = ["a.txt", "Letter.DOC", "GPL-2.0", "Apache-2.0", "notes.v2", "README", "sub.d/COPYING", "x.png", ".hidden"]
    picked = [{"key": name} for name in names]
    sorted_files = _call(page, "core/picking.js", "sortBySuffix", picked, [".txt", ".doc"])
    assert [one["key"] for one in sorted_files["unknown"]] == ["x.png", ".hidden"]
    assert [one["key"] for one in sorted_files["known"]] == names[:-2]
    assert not _call(page, "core/picking.js", "sortBySuffix", picked, [])["unknown"]


_TABLE = "Rates 🙂\n\nName | Rate\nStaff:\nAda | 345\nBo | \n\nThat is all."


def test_tables_of_a_passage_are_told_apart_from_its_text(page: Page) -> None:
    parts = _call(page, "core/tables.js", "splitTables", _TABLE)
    assert [_TABLE[part["start"] : part["end"]].strip() for part in parts] == [
        "Rates 🙂",
        "Name | Rate\nStaff:\nAda | 345\nBo |",
        "That is all.",
    ]
    rows = parts[1]["rows"]
    assert [[cell["text"] for cell in row["cells"]] for row in rows] == [
        ["Name", "Rate"],
        ["Staff:"],
        ["Ada", "345"],
        ["Bo", ""],
    ]
    assert [row["isHeader"] for row in rows] == [True, False, False, False]
    assert [row["isLabel"] for row in rows] == [False, True, False, False]
    [cell] = [cell for row in rows for cell in row["cells"] if cell["text"] == "345"]
    assert _TABLE[cell["start"] : cell["end"]] == "345"


def test_rows_that_name_their_cells_are_a_table_with_one_header(page: Page) -> None:
    rows = "City: Ulm; River: Danube; Note: old; and free\nCity: Köln; Note: see: this"
    csv = f"Prices 🙂\n{rows}\nThat is all; really: yes."
    [before, table, after] = _call(page, "core/tables.js", "splitTables", csv)
    assert csv[before["start"] : before["end"]].strip() == "Prices 🙂"
    assert csv[after["start"] : after["end"]] == "That is all; really: yes."
    assert [[cell["text"] for cell in row["cells"]] for row in table["rows"]] == [
        ["City", "River", "Note"],
        ["Ulm", "Danube", "old; and free"],
        ["Köln", "", "see: this"],
    ]
    assert [row["isHeader"] for row in table["rows"]] == [True, False, False]
    assert all(csv[c["start"] : c["end"]] == c["text"] for row in table["rows"] for c in row["cells"])
    workbook = "City | Bridges\nCity: Ulm | Bridges: 12\nCity: Köln | Bridges: 8"
    [table] = _call(page, "core/tables.js", "splitTables", workbook)
    assert [[cell["text"] for cell in row["cells"]] for row in table["rows"]] == [
        ["City", "Bridges"],
        ["Ulm", "12"],
        ["Köln", "8"],
    ]
    assert _call(page, "core/tables.js", "splitTables", "To: Bo; Cc: Jo") == [{"start": 0, "end": 14}]


def test_a_row_alone_is_text_and_rules_are_no_rows(page: Page) -> None:
    assert _call(page, "core/tables.js", "splitTables", "One | two\nand no other.") == [{"start": 0, "end": 23}]
    assert _call(page, "core/tables.js", "splitTables", "") == [{"start": 0, "end": 0}]
    drawn = "+----+---+\n| no | b |\n+====+===+\n| 1 | 2 |\n+----+---+\n| 3 | 4 |\n+----+---+"
    [table] = _call(page, "core/tables.js", "splitTables", drawn)
    assert [[cell["text"] for cell in row["cells"][:1]] for row in table["rows"]] == [["no"], ["1"], ["3"]]
    assert [row["isHeader"] for row in table["rows"]] == [True, False, False]
    later = "| 3 | x |\n+----+---+\n| 4 | y |\n+----+---+"
    [table] = _call(page, "core/tables.js", "splitTables", later, "Fees › no | b")
    assert [row["isHeader"] for row in table["rows"]] == [False, False], "the names are in the heading"
    [table] = _call(page, "core/tables.js", "splitTables", "no | b\n---+---\n 1 | 2\n 3 | 4")
    assert [row["isHeader"] for row in table["rows"]] == [True, False, False]
    [table] = _call(page, "core/tables.js", "splitTables", "| a | b |\n|---|:-:|\n| 1 | 2\\|3 |")
    assert [[cell["text"] for cell in row["cells"]] for row in table["rows"]] == [["a", "b"], ["1", "2\\|3"]]
