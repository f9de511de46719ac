"""Sources of manual pages, as `man` shows them."""

import pytest

from indexer.loading.texts.roff import is_roff, render_roff

PAGE = r""".\" A licence
.TH PACK 1 "2.0"
.de tq
.  TP \\$1
..
.SH NAME
pack \- packs \fIfolders\fR
.SH OPTIONS
.TP
\fB\-q\fP, \fB\-\-quiet\fP
Write no \(lqmessages\(rq.
Errors are written.
.IP \(bu 2
One item.
.IP "copy all"
Copies.
.PP
See
.BR tar (1).
.SS Files
.nf
a\eb   c
.fi
.B "bold words"
"""


def test_terms_stand_above_deeper_lines() -> None:
    assert render_roff(PAGE).splitlines() == [
        "PACK(1)",
        "",
        "NAME",
        "       pack - packs folders",
        "",
        "OPTIONS",
        "",
        "       -q, --quiet",
        "              Write no “messages”.",
        "              Errors are written.",
        "",
        "              • One item.",
        "",
        "       copy all",
        "              Copies.",
        "",
        "       See",
        "       tar(1).",
        "",
        "   Files",
        r"       a\b   c",
        "       bold words",
    ]


@pytest.mark.parametrize(
    ("text", "is_page"),
    [
        (PAGE, True),
        ("'\\\" t\n.TH X 1\n", True),
        ("A text.\n.TH X 1\n", False),
        (".gitignore\n", False),
        ("", False),
        (".\n" * 100 + ".TH X 1\n", False),
    ],
)
def test_a_page_has_its_title_before_all_text(text: str, is_page: bool) -> None:
    assert is_roff(text) == is_page


def test_broken_sources_are_read_to_their_end() -> None:
    assert render_roff(".TH\n.TP\n.RE\n") == "\n"
    assert render_roff('.TH A\n\\f[\\(\n.BR "open') == "A\n\n       open\n"
    assert len(render_roff(".TH A 1\n" + ".RS\n" * 50 + "deep\n").splitlines()[-1]) < 90


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (r"\m[blue]sky\m[] \M(gr\k(xxback", "sky back"),
        (r"\N'45'q \C'em' \x'1v'\X'tty: link'deep \N'9999'", "-q — deep"),
        (r"make 'x' and C'y'", "make 'x' and C'y'"),
    ],
)
def test_escapes_of_colours_and_numbers_are_not_shown(line: str, shown: str) -> None:
    assert render_roff(f".TH A\n{line}\n") == f"A\n       {shown}\n"


@pytest.mark.parametrize("macro", [".B", ".I", '.BR \\" bold', ".SM"])
def test_a_font_without_words_is_that_of_the_next_line(macro: str) -> None:
    assert render_roff(f".TH A\nSee\n{macro}\ntar\n.B x y\n.BR z (1)\n") == (
        "A\n       See\n       tar\n       x y\n       z(1)\n"
    )
    assert render_roff(f".TH A\n.TP\n{macro}\n\\-q\nQuiet.\n") == "A\n\n       -q\n              Quiet.\n"


@pytest.mark.parametrize(
    "definition",
    [
        ".de URL\nbody\n..",
        ".de URL\nbody\n.  .",  # as Asciidoctor writes it
        ".  am URL\n.    ad l\n.  .",
        '.de Vb \\" Begin verbatim text\nbody\n.. \\" end',
        ".de X END\nbody\n..\nmore\n.END",
        ".de1 INDENT\n. RS \\\\$1\n..",
        ".ig\nbody\n..",
        ".ig ZZ\nbody\n..\n. ZZ",
        ".de X\nbody\n...\n..",
        ".de URL",  # never ends
        ".de X END\n.de Y\nbody\n..",
    ],
)
def test_the_body_of_a_macro_is_left_out_alone(definition: str) -> None:
    assert render_roff(f".TH A\n{definition}\nkept\n") == "A\n       kept\n"


def test_a_definition_without_an_end_hides_no_line_below_it() -> None:
    assert render_roff(".TH A\n.de X\n..\n.de Y\nbody\n.SH NAME\nkept\n").splitlines() == [
        "A",
        "       body",
        "",
        "NAME",
        "       kept",
    ]


def test_the_format_of_a_table_is_not_shown() -> None:
    table = ".TH A\n.TS\nallbox tab(|);\nlb lb\nl l.\nSignal|Number\nSIGHUP|1\n.T&\nl r. \nEnd.|2\n.TE\nText.\n"
    assert render_roff(table).splitlines()[1:] == [
        " " * 7 + text for text in ("Signal|Number", "SIGHUP|1", "End.|2", "Text.")
    ]
    assert render_roff(".TH A\n.TS\nl l\n.TE\nkept\n") == "A\n       kept\n"
