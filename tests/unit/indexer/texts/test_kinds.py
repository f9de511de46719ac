"""What the loaders of tables, web pages, mails, reStructuredText, notebooks and source code make of their files."""

import json
from typing import Any

import pytest

from core import strategies
from core.documents import LOADER_NOTES
from core.errors import LoadFailed
from core.ports.indexing import LoadedDocument
from core.strategies import StrategySpec
from testing.contracts.loader import source_of


def load(name: str, content: str | bytes, *, key: str = "a/b.ext", **options: Any) -> LoadedDocument:
    loader = strategies.build("indexer.loaders", StrategySpec(name=name, options=options), "loader", None)
    raw = content.encode() if isinstance(content, str) else content
    document: LoadedDocument = loader.load(source_of(raw, key=key))
    for block in document.blocks:
        assert block.start is not None
        assert document.pages[0][block.start : block.start + len(block.text)] == block.text
    return document


def sections(document: LoadedDocument) -> list[tuple[tuple[str, ...], str]]:
    return [(block.heading, block.text.strip()) for block in document.blocks]


# --- tables ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_rows_have_the_names_of_their_columns(delimiter: str) -> None:
    rows = [("name", "born", "note"), ("Ada", "1815", '"one\ntwo, ""three"" ; | x"'), ("", "", ""), ("Bob", "", "y")]
    document = load("csv", "\r\n".join(delimiter.join(row) for row in rows))
    assert document.pages[0] == 'name: Ada; born: 1815; note: one two, "three" ; | x\nname: Bob; note: y'


def test_spaces_before_a_cell_are_no_part_of_it() -> None:
    aligned = 'name,         town\n"Lee, Ann",   "Ulm"\n"Bo ""B""",    "Rome"\n'
    assert load("csv", aligned).pages[0] == 'name: Lee, Ann; town: Ulm\nname: Bo "B"; town: Rome'


def test_a_quote_behind_spaces_that_does_not_close_is_a_sign_of_its_cell() -> None:
    def lines(*rows: str) -> list[str]:
        return load("csv", "\r\n".join(["part, size, note", *rows, "bolt, 2, x"])).pages[0].split("\n")

    bolt = "part: bolt; size: 2; note: x"
    assert lines('pipe, "6, long') == ['part: pipe; size: "6; note: long', bolt]
    assert lines('pipe, "6', 'tube, "8, "9') == ['part: pipe; size: "6', 'part: tube; size: "8; note: "9', bolt]
    assert lines('"a, ""b, ""c", "6') == ['part: a, "b, "c; size: "6', bolt], "a cell in quotes is as it was"
    assert lines('pipe, "6, or 7" , "8"') == ["part: pipe; size: 6, or 7; note: 8", bolt]
    assert lines('pipe,6,"of', 'two, ""lines"""') == ['part: pipe; size: 6; note: of two, "lines"', bolt]


def test_a_table_without_a_header() -> None:
    charles = "column 1: 1815; column 2: Ada\ncolumn 1: 1791; column 2: Charles"
    assert load("csv", "1815,Ada\n1791,Charles\n").pages[0] == charles
    assert load("csv", "a,b\nc,d\n", header="no").pages[0].startswith("column 1: a; column 2: b\n")
    assert load("csv", "a,b\n").pages[0] == "column 1: a; column 2: b"
    assert load("csv", "a,b\nc,d,e\n").pages[0] == "a: c; b: d; column 3: e"


def test_rows_stay_whole_and_a_column_gives_the_heading() -> None:
    table = "country,city\n" + "".join(f"{'DE' if n < 30 else 'FR'},City number {n}\n" for n in range(60))
    blocks = load("csv", table, block_characters=100).blocks
    assert all(line.startswith("country: ") for block in blocks for line in block.text.splitlines())
    assert all(len(block.text) <= 101 for block in blocks)
    headed = load("csv", table, heading="country", block_characters=9999).blocks
    assert [block.heading for block in headed] == [("DE",), ("FR",)]
    assert len(load("csv", table, block_characters=0).blocks) == 60


@pytest.mark.parametrize("content", ["", "\n\n", " , ,\n"])
def test_an_empty_table_is_refused(content: str) -> None:
    with pytest.raises(LoadFailed, match=r"'a/b.ext' has no text"):
        load("csv", content)


# --- web pages -------------------------------------------------------------------------------------------------------

PAGE = """<!doctype html><html lang="en"><head><title>The Whale - My Site</title><meta name="author" content="Ada">
<meta property="article:published_time" content="2024-05-01"><style>p {}</style></head>
<body><nav>Home <a href="/x">About</a></nav><main><h1>The <em>Whale</em></h1>
<p>It is a<br>big
 fish &amp; more.</p><script>alert(1)</script><div hidden>secret</div><p style="display: none">ignore</p>
<h2>Parts</h2><ul><li>Head<li>Tail</ul><table><tr><th>a</th><td>1</td></tr></table><pre>x = 1
  y = 2</pre><h3>Empty</h3><h2>Next</h2>Loose &lt;b&gt;<iframe src="http://x.example/"></iframe></main>
<footer>© 2024</footer></body></html>"""


def test_numbered_lists_of_a_page_keep_their_numbers() -> None:
    page = '<ol><li>Open<ul><li>lid</ul><li><li>Close</ol><ol start="7"><li>Wait</ol><ul><li>Oil</ul>'
    page += '<ol start="x"><li>End</ol>'
    assert sections(load("html", page)) == [((), "1. Open\n\n- lid\n\n3. Close\n\n7. Wait\n\n- Oil\n\n1. End")]


def test_the_main_text_of_a_page_under_its_headings() -> None:
    document = load("html", PAGE)
    assert document.title == "The Whale"
    assert document.metadata == {"author": "Ada", "created": "2024-05-01", "language": "en"}
    assert sections(document) == [
        ((), "It is a\nbig fish & more."),
        (("Parts",), "- Head\n- Tail\n\na | 1\n\nx = 1\n  y = 2"),
        (("Next",), "Empty\n\nNext\nLoose <b>"),
    ]


@pytest.mark.parametrize(
    "link",
    [
        '<a class="headerlink" href="#dig" title="Permalink">¶</a>',
        '<span><a class="mark" href="#dig" id="dig">#</a></span>',
        '<a class="anchor" href="page.html#dig"> § </a>',
        '<a href="#dig">🔗</a>',
    ],
)
def test_signs_that_link_to_a_heading_are_no_part_of_it(link: str) -> None:
    page = f"<title>9. Wells — A Manual</title><h1>9. Wells{link}</h1>One.<h2>Digging <a href='#c'>x</a>{link}</h2>Two."
    document = load("html", page)
    assert document.title == "9. Wells"
    assert sections(document) == [((), "One."), (("Digging x",), "Two.")]
    assert document.pages[0].startswith("9. Wells\n")


def test_signs_that_are_text_remain() -> None:
    page = "<h2>C<a href='/csharp'>#</a></h2><dl><dt>dig()<a class='headerlink' href='#d'>¶</a><dd><a href='#p'>§</a> 5"
    document = load("html", page)
    assert sections(document) == [(("C#",), "dig()\n§ 5")]


def test_all_of_a_page_on_request_or_where_there_is_nothing_else() -> None:
    assert "Home About" in load("html", PAGE, main=False).pages[0]
    assert "secret" not in load("html", PAGE, main=False).pages[0]
    assert load("html", "<nav>Only a menu</nav>").pages[0].strip() == "Only a menu"


@pytest.mark.parametrize(
    ("head", "encoding"),
    [('<meta charset="koi8-r">', "koi8-r"), ("<meta content='text/html; charset=windows-1251'>", "cp1251")],
)
def test_the_page_declares_its_encoding(head: str, encoding: str) -> None:
    document = load("html", f"<html><head>{head}</head><body>Привет, мир</body></html>".encode(encoding))
    assert document.pages[0].strip() == "Привет, мир"
    assert LOADER_NOTES not in document.metadata


def test_a_page_that_is_nested_deeply() -> None:
    document = load("html", "<div>" * 50_000 + "deep" + "</div>" * 50_000)
    assert document.pages[0].strip() == "deep"


def test_a_page_without_text_is_refused() -> None:
    with pytest.raises(LoadFailed, match="has no text"):
        load("html", "<html><body><script>x()</script></body></html>")


# --- mails -----------------------------------------------------------------------------------------------------------

HEAD = (
    "From: =?utf-8?q?J=C3=B6rg?= <joerg@example.org>\nTo: Ada <ada@example.org>, bob@example.org\n"
    "Subject: =?iso-8859-1?q?Caf=E9?=\n plan\nDate: Mon, 01 Apr 2024 10:00:00 +0200\n"
)
MIXED = (
    HEAD + 'Content-Type: multipart/mixed; boundary="X"\n\n--X\nContent-Type: multipart/alternative; boundary="Y"\n\n'
    "--Y\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\nR3LDvMOfZQ==\n"
    "--Y\nContent-Type: text/html\n\n<p>html</p>\n--Y--\n"
    '--X\nContent-Type: application/pdf; name="a.pdf"\nContent-Disposition: attachment; filename="a.pdf"\n\nJVBERg==\n'
    "--X\nContent-Type: message/rfc822\n\nSubject: Inner\n\ninner text\n--X--\n"
)


def test_the_headers_of_a_mail_are_metadata_and_attachments_are_named() -> None:
    document = load("eml", MIXED)
    assert document.title == "Café plan"
    assert document.metadata == {
        "from": "Jörg <joerg@example.org>",
        "to": ["Ada <ada@example.org>", "bob@example.org"],
        "date": "2024-04-01T10:00:00+02:00",
        "subject": "Café plan",
        "attachments": ["a.pdf (application/pdf)", "Inner (message/rfc822)"],
    }
    [block] = document.blocks
    assert "Grüße" in block.text
    assert "html" not in block.text
    assert "inner text" not in block.text
    assert "Attachment" not in load("eml", MIXED, attachments=False).pages[0]


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("Tue, 13 Feb 2018 16:26:05 -0800", "2018-02-13T16:26:05-08:00"),
        ("Tue, 13 Feb 2018 16:26:05 +0000", "2018-02-13T16:26:05Z"),
        ("Tue, 13 Feb 2018 16:26:05 -0000", "2018-02-13T16:26:05Z"),
        ("Tue, 13 Feb 2018 16:26:05 +9999", ""),
        ("yesterday", ""),
    ],
)
def test_a_mail_has_the_date_of_its_sender(written: str, date: str) -> None:
    document = load("eml", f"From: ada@example.org\nDate: {written}\n\nText.")
    assert document.metadata.get("date", "") == date
    assert (f"Date: {date}" in document.pages[0]) is bool(date)


def test_a_mail_that_came_back_tells_why() -> None:
    report = "Content-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example\n\n"
    failed = "Final-Recipient: rfc822; bob@example.org\nDiagnostic-Code: smtp; 550 5.7.1 BANNED: mail.bat\n"
    headers = "Content-Type: text/rfc822-headers\n\nSubject: The offer 01956-02-2\n"
    parts = f'Content-Type: multipart/report; boundary="X"\n\n--X\n{report}{failed}\n--X\n{headers}--X--\n'
    mail = load("eml", HEAD + parts)
    assert "Diagnostic-Code: smtp; 550 5.7.1 BANNED: mail.bat" in mail.pages[0]
    assert "Reporting-MTA: dns; mx.example" in mail.pages[0]
    assert "Subject: The offer 01956-02-2" in mail.pages[0]
    assert "attachments" not in mail.metadata


def test_a_mail_in_html_only() -> None:
    content = HEAD + "Content-Type: text/html; charset=iso-8859-1\n\n<p>Caf\xe9</p><img src='http://x.example/t.png'>"
    assert load("eml", content.encode("latin-1")).pages[0].rstrip().endswith("\n\nCafé")


def test_a_mail_in_an_encoding_that_it_does_not_state() -> None:
    document = load("eml", HEAD.encode() + b"\n" + "Grüße aus der schönen Stadt Köln am Rhein".encode("latin-1"))
    assert "Grüße aus der schönen Stadt" in document.pages[0]
    assert document.metadata[LOADER_NOTES] == ["read as Windows-1252, which is a guess: the file is not UTF-8"]


def test_each_mail_of_a_mailbox_is_under_its_sender_and_subject() -> None:
    envelope = "From ada@example.org Mon Apr  1 10:00:00 2024\n"
    document = load("eml", f"{envelope}{HEAD}\nFirst.\n\n{envelope}Subject: Two\n\n>From here on.\nFrom there.\n")
    assert document.metadata == {"mails": 2}
    assert [block.heading for block in document.blocks] == [("Jörg, 2024-04-01", "Café plan"), ("Two",)]
    assert document.blocks[1].text.strip() == "From here on.\nFrom there."


def test_a_mailbox_has_the_subject_of_its_only_mail_as_title() -> None:
    envelope = "From ada@example.org Mon Apr  1 10:00:00 2024\n"
    one, two = f"{envelope}{HEAD}\nFirst.\n\n", f"{envelope}Subject: Two\n\nSecond.\n\n"
    assert [load("eml", mails).title for mails in (one, two, one + two)] == ["Café plan", "Two", "b"]


@pytest.mark.parametrize("content", ["Just a text.", "", "\n\n"])
def test_what_is_no_mail_is_refused(content: str) -> None:
    with pytest.raises(LoadFailed, match="it has no headers such as From"):
        load("eml", content)


def test_a_mail_that_is_nested_deeply_is_refused_or_read() -> None:
    parts = "".join(f'Content-Type: multipart/mixed; boundary="{n}"\n\n--{n}\n' for n in range(5000))
    try:
        document = load("eml", HEAD + parts + "\ntext")
    except LoadFailed as error:
        assert "nested too deeply" in str(error)  # noqa: PT017 - either outcome is right
    else:
        assert document.title == "Café plan"


# --- reStructuredText ------------------------------------------------------------------------------------------------


def test_sections_of_rst_by_the_order_of_their_marks() -> None:
    text = (
        "=========\nThe Title\n=========\n\n:Author: Ada\n:date: 2024-05-01\n\nIntro.\n\nPart ``one``\n========\n\n"
        ".. include:: /etc/passwd\n\n.. raw:: html\n\n   <script>\n\n*Inner* :ref:`x <y>`\n-------------------\n\n"
        "Text.\n\n"
        "Part two\n========\n\n====  ====\na     b\n====  ====\n1     2\n====  ====\n\n::\n\n  Code\n  ----\n"
    )
    document = load("rst", text)
    assert (document.title, document.metadata) == ("The Title", {"author": "Ada", "created": "2024-05-01"})
    assert [heading for heading, _ in sections(document)] == [(), ("Part one",), ("Part one", "Inner x"), ("Part two",)]
    assert "root:" not in document.pages[0]
    assert sections(document)[3][1].endswith("Code\n  ----")


@pytest.mark.parametrize(
    ("name", "first", "second", "title"),
    [
        ("rst", "2.8.0 (2026-09-15)", "2.7.1 (2026-05-07)", "b"),
        ("rst", "Version 3.0", "Version 2.9", "b"),
        ("rst", "Changes in 3.0", "Older changes", "Changes in 3.0"),
        ("rst", "2.8.0", "", "2.8.0"),
        ("rst", "1. Aim", "2. Means", "1. Aim"),
        ("md", "[1.4] - 2024-05-01", "[1.3]", "b"),
        ("md", "Notes", "1.3.0", "Notes"),
    ],
)
def test_a_release_is_no_title_of_several(name: str, first: str, second: str, title: str) -> None:
    """Else the passages of the first release would not have its version."""

    def head(text: str) -> str:
        return (f"# {text}\n\n" if name == "md" else f"{text}\n{'=' * 30}\n\n") if text else ""

    document = load(name, f"{head(first)}Fixed.\n\n{head(second)}Added.\n")
    assert document.title == title
    assert (document.blocks[0].heading == (first,)) == (title == "b")


# --- notebooks -------------------------------------------------------------------------------------------------------


def cell(kind: str, source: object, *outputs: dict[str, Any]) -> dict[str, object]:
    return {"cell_type": kind, "source": source, **({"outputs": list(outputs)} if kind == "code" else {})}


def test_cells_are_under_their_headings_with_outputs_that_are_bounded() -> None:
    stream = {"output_type": "stream", "text": ["1\n"]}
    result = {"output_type": "execute_result", "data": {"text/plain": "x" * 5000, "image/png": "AAAA"}}
    error = {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "\x1b[31mby zero\x1b[0m"}
    cells = [
        cell("markdown", ["# Wells\n", "\n", "Intro.\n", "## Digging"]),
        *(cell("code", "print(1)", stream, result), cell("code", "1/0", error)),
        *(cell("markdown", "## Empty"), cell("raw", "Raw.")),
    ]
    notebook = {"nbformat": 4, "metadata": {"kernelspec": {"language": "python"}}, "cells": cells}
    document = load("ipynb", json.dumps(notebook), output_characters=10)
    assert (document.title, document.metadata) == ("Wells", {"programming_language": "python"})
    assert sections(document) == [
        ((), "Intro."),
        (("Digging",), "print(1)\n\n1\nxxxxxxxx …\n\n1/0\n\nZeroDivisi …"),
        (("Empty",), "Raw."),
    ]
    assert sections(load("ipynb", json.dumps(notebook), code=False))[1:] == [(("Empty",), "Digging\nEmpty\nRaw.")]


def test_a_cell_without_a_heading_is_under_that_of_the_cell_before() -> None:
    cells = [cell("markdown", "Before."), cell("markdown", "# A\n\nOne.\n\n## B"), cell("markdown", "Two.")]
    document = load("ipynb", json.dumps({"cells": cells}))
    assert sections(document) == [((), "Before."), ((), "One."), (("B",), "Two.")]


def test_a_notebook_of_format_3() -> None:
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1"], "outputs": []}]}]}
    assert load("ipynb", json.dumps(old)).pages[0].strip() == "x = 1"


@pytest.mark.parametrize("content", ["{}", "[]", '{"cells": 5}', "{broken", '{"cells": []}', "[" * 100_000])
def test_what_is_no_notebook_is_refused(content: str) -> None:
    with pytest.raises(LoadFailed, match=r"a/b\.ext"):
        load("ipynb", content)


# --- source code -----------------------------------------------------------------------------------------------------

PYTHON = '''"""Wells."""

import os

@cache
def dig(depth: int) -> int:
    def inner():
        return 1
    return depth


class Well:
    """A hole — ü."""

    depth = 1

    async def fill(self):
        return 2

    def empty(self): pass

print(dig(1))
'''


def test_python_is_cut_at_its_definitions() -> None:
    document = load("source", PYTHON, key="src/well.py")
    assert document.title == "well.py"
    assert "".join(block.text for block in document.blocks).replace("\n", "") == PYTHON.replace("\n", "")
    assert [(block.heading, block.text.strip().split("\n")[0]) for block in document.blocks] == [
        ((), '"""Wells."""'),
        (("def dig",), "@cache"),
        (("class Well",), "class Well:"),
        (("class Well", "def fill"), "async def fill(self):"),
        (("class Well", "def empty"), "def empty(self): pass"),
        ((), "print(dig(1))"),
    ]


BAD_PYTHON = ("print 'Python 2'\n", "(" * 10_000, "x = 1if y else 2\n", "x = " + "-" * 50_000)


@pytest.mark.parametrize(("key", "text"), [("a.rs", "fn main() {}\n"), *(("a.py", text) for text in BAD_PYTHON)])
def test_other_source_is_one_block(key: str, text: str) -> None:
    assert [block.text for block in load("source", text, key=key).blocks] == [text]


def test_definitions_can_be_left_alone() -> None:
    assert len(load("source", PYTHON, key="a.py", definitions=False).blocks) == 1
