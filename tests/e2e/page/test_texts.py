"""What the page makes of texts: JSON typed wrongly, lines of PDF files, quotes, steps, and words of the server."""

from typing import Any

from playwright.sync_api import Page

from reasoning.verification import verifier
from tests.e2e.page.conftest import OpenPage

_VALUE = 'a value such as "Paris", 1990, true or ["en", "de"]'


def _call(page: Page, module: str, function: str, *values: Any) -> Any:
    script = """async ([module, name, values]) => {
        const main = document.querySelector('script[type=module]').src;
        return (await import(new URL(module, main)))[name](...values);
    }"""
    return page.evaluate(script, [module, function, list(values)])


_WRONG_JSON = {
    '{"year": ': f"At character 10, {_VALUE} is needed, but the text ends.",
    "{year: 1}": "At character 2, a name in double quotes is needed, not y.",
    '{"year" 1}': "At character 9, a colon is needed, not 1.",
    '{"a": 1 "b": 2}': 'At character 9, a comma or } is needed, not ".',
    '{"a": 1,}': "At character 9, a name in double quotes is needed, not }.",
    '{"a": "x': "At character 9, the closing double quote is needed, but the text ends.",
    '{"a": 1}}': "At character 9, the end of the text is needed, not }.",
    '{"🙂": x}': f"At character 7, {_VALUE} is needed, not x.",
    '{"a": 1\n"b": 2}': 'At character 1 of line 2, a comma or } is needed, not ".',
    "[" * 5000: "It is nested too deeply.",
}
_CONDITIONS = (
    '{"year":{"$gte":1990,"$lt":2000},"language":"en"}',
    '{"year":"1990","done":true}',
    '{"$key":{"$prefix":"notes/"},"note":{"$exists":true}}',
    '{"$and":[{"tag":{"$contains":"a"}},{"tag":{"$contains":"b"}}]}',
)
_NO_CONDITIONS = ('{"$or":[{"year":1}]}', '{"year":{"$in":[1,2]}}', '{"year":{"$near":2}}', "{")


def test_filters_are_read_and_wrong_json_is_told_with_its_place(open_page: OpenPage) -> None:
    page = open_page("/help")
    for text, wrong in _WRONG_JSON.items():
        assert _call(page, "core/json.js", "readJson", text)["wrong"] == wrong
    assert [_call(page, "core/json.js", "explainFilter", text) for text in ("", " ", '{"a": {"$gte": 1}}')] == [""] * 3
    for text in ("[1]", "1", "null", '"a"'):
        assert _call(page, "core/json.js", "explainFilter", text).startswith("The filter is not an object")
    for text in _CONDITIONS:
        conditions = _call(page, "core/conditions.js", "readConditions", text)
        assert _call(page, "core/conditions.js", "writeConditions", conditions) == text
    for text in _NO_CONDITIONS:
        assert _call(page, "core/conditions.js", "readConditions", text) is None, "only as JSON"


_JOINED = {
    "a line\nand another\n\na paragraph": "a line and another\n\na paragraph",
    "北京大学\n位于北京": "北京大学\u200b位于北京",
    "They are\n- one\n- two\n1. three": "They are\n- one\n- two\n1. three",
    "| a | b |\n| c | d |\nend": "| a | b |\n| c | d |\nend",
    "alone": "alone",
}
_ENDS = (("It was. Then", 6, 7), ("It was?! Then", 6, 8), ("It is 3.5 m", 7, 7), ("他来了。", 3, 4), ("It was", 6, 6))
_COMPARED = (
    ("The tower is 300 m high.", "The tower is 330 m high.", "both:The tower is |before:300|after:330|both: m high."),
    ("北京大学位于北京", "北京大学位于上海", "both:北京大学位于|before:北京|after:上海"),
    ("", "", ""),
    ("a a", "a", "both:a|before: a"),
)


def test_lines_are_joined_quotes_end_with_their_mark_and_words_are_compared(open_page: OpenPage) -> None:
    page = open_page("/help")
    for lines, joined in _JOINED.items():
        assert _call(page, "core/text.js", "joinLines", lines) == joined
        assert len(lines) == len(joined), "nothing moves"
    for text, end, whole in _ENDS:
        [span] = _call(page, "core/text.js", "toSentenceEnd", text, [{"start": 0, "end": end}])
        assert span == {"start": 0, "end": whole}
    for before, after, parts in _COMPARED:
        compared = _call(page, "asking/kept/words.js", "compareWords", before, after)
        assert "|".join(f"{part['side']}:{part['text']}" for part in compared) == parts


def test_steps_are_counted_and_words_of_the_server_are_told(open_page: OpenPage) -> None:
    page = open_page("/help")
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
    told = _call(page, "asking/answer/roles.js", "inWords", f"not all documents were verified: {verifier._OVER}")
    assert told.startswith("Not decided: the check has used up")
    assert "verify_budget" not in told
    assert _call(page, "asking/answer/roles.js", "inWords", "the model failed") == "the model failed"


def test_files_that_no_suffix_tells_are_left_to_the_server(open_page: OpenPage) -> None:
    """The field for files has no `accept`, which would hide such files; this sorts what was chosen."""
    page = open_page("/help")
    names = ["a.txt", "Letter.DOC", "GPL-2.0", "Apache-2.0", "notes.v2", "README", "sub.d/COPYING", "x.png", ".hidden"]
    picked = [{"key": name} for name in names]
    sorted_files = _call(page, "core/picking.js", "sortBySuffix", picked, [".txt", ".doc"])
    assert [one["key"] for one in sorted_files["unknown"]] == ["x.png", ".hidden"]
    assert [one["key"] for one in sorted_files["known"]] == names[:-2]
    assert not _call(page, "core/picking.js", "sortBySuffix", picked, [])["unknown"]


_TABLE = "Rates 🙂\n\nName | Rate\nStaff:\nAda | 345\nBo | \n\nThat is all."


def _split(page: Page, text: str, *heading: str) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = _call(page, "core/tables.js", "splitTables", text, *heading)
    return parts


def _cells_of(table: dict[str, Any]) -> list[list[str]]:
    return [[cell["text"] for cell in row["cells"]] for row in table["rows"]]


def _headers_of(table: dict[str, Any]) -> list[bool]:
    return [row["isHeader"] for row in table["rows"]]


def test_tables_of_a_passage_are_told_apart_from_its_text(open_page: OpenPage) -> None:
    page = open_page("/help")
    parts = _split(page, _TABLE)
    texts = [_TABLE[part["start"] : part["end"]].strip() for part in parts]
    assert texts == ["Rates 🙂", "Name | Rate\nStaff:\nAda | 345\nBo |", "That is all."]
    assert _cells_of(parts[1]) == [["Name", "Rate"], ["Staff:"], ["Ada", "345"], ["Bo", ""]]
    assert _headers_of(parts[1]) == [True, False, False, False]
    assert [row["isLabel"] for row in parts[1]["rows"]] == [False, True, False, False]
    [cell] = [cell for row in parts[1]["rows"] for cell in row["cells"] if cell["text"] == "345"]
    assert _TABLE[cell["start"] : cell["end"]] == "345"


def test_rows_that_name_their_cells_are_a_table_with_one_header(open_page: OpenPage) -> None:
    page = open_page("/help")
    rows = "City: Ulm; River: Danube; Note: old; and free\nCity: Köln; Note: see: this"
    csv = f"Prices 🙂\n{rows}\nThat is all; really: yes."
    [before, table, after] = _split(page, csv)
    assert csv[before["start"] : before["end"]].strip() == "Prices 🙂"
    assert csv[after["start"] : after["end"]] == "That is all; really: yes."
    assert _cells_of(table) == [
        ["City", "River", "Note"],
        ["Ulm", "Danube", "old; and free"],
        ["Köln", "", "see: this"],
    ]
    assert _headers_of(table) == [True, False, False]
    assert all(csv[c["start"] : c["end"]] == c["text"] for row in table["rows"] for c in row["cells"])
    [table] = _split(page, "City | Bridges\nCity: Ulm | Bridges: 12\nCity: Köln | Bridges: 8")
    assert _cells_of(table) == [["City", "Bridges"], ["Ulm", "12"], ["Köln", "8"]]
    for text in ("To: Bo; Cc: Jo", "One | two\nand no other.", ""):  # a row alone is text
        assert _split(page, text) == [{"start": 0, "end": len(text)}]
    drawn = "+----+---+\n| no | b |\n+====+===+\n| 1 | 2 |\n+----+---+\n| 3 | 4 |\n+----+---+"
    [table] = _split(page, drawn)
    assert [cells[0] for cells in _cells_of(table)] == ["no", "1", "3"], "rules are no rows"
    assert _headers_of(table) == [True, False, False]
    [table] = _split(page, "| 3 | x |\n+----+---+\n| 4 | y |\n+----+---+", "Fees › no | b")
    assert _headers_of(table) == [False, False], "the names are in the heading"
    [table] = _split(page, "no | b\n---+---\n 1 | 2\n 3 | 4")
    assert _headers_of(table) == [True, False, False]
    [table] = _split(page, "| a | b |\n|---|:-:|\n| 1 | 2\\|3 |")
    assert _cells_of(table) == [["a", "b"], ["1", "2\\|3"]]
