"""Names of documents in English, German and French: what is no name by itself, by how the whole document writes it."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text import name_evidence
from core.text.languages import detect_language
from core.text.name_evidence import gather_evidence
from core.text.no_names.document_names import find_document_names

ENGLISH = (
    "Look at the ship. Ahab was the captain of it, and Ahab had a leg of bone. They would look at the sea for days. "
    "Starbuck came on Monday, in May 1851. The ship left in December. Nobody knows what Ahab and Starbuck said on deck."
)
GERMAN = (
    "Die Noten wurden in Leipzig gestochen. Bach wurde dort bekannt. Das Programm setzt die Noten mit Sorgfalt, und "
    "der Stecher ist mit der Arbeit zufrieden. Wenn Sie Musik von Johann Sebastian Bach hören, ist das schön. "
    "Im Oktober war die Arbeit zu Ende. LilyPond und das Programm Finale 2008 werden mit einer CD geliefert."
)
FRENCH = (
    "Connecter la résistance et mesurer la tension. Il faut connecter le fil avec la loi d’Ohm. L’amplitude est dans "
    "le signal que Fourier a décrit en janvier. Existe-t-il une autre loi pour Paris ? Pour mesurer, on part de Paris."
)


def names(text: str) -> list[str]:
    return [span.form for span in find_document_names(text, gather_evidence([text]))]


@pytest.mark.parametrize(
    ("text", "language"), [(ENGLISH, "en"), (GERMAN, "de"), (FRENCH, "fr"), ("你好", None), ("", None)]
)
def test_the_language_of_a_text(text: str, language: str | None) -> None:
    assert detect_language([text]) == language


@pytest.mark.parametrize("separator", ["; ", " | "])
def test_names_of_columns_that_each_row_repeats_are_no_names(separator: str) -> None:
    rows = [
        f"Gegenpartei: {name}{separator}Betrag EUR: {n},50" for n, name in enumerate(("Krüger", "Weidmann", "Ohlsen"))
    ]
    header = ["Gegenpartei | Betrag EUR"] if separator == " | " else []
    assert names("\n".join([*header, *rows])) == ["Krüger", "Weidmann", "Ohlsen"]
    assert "Betrag EUR" in names("\n".join(rows[:2])), "two rows may be a list of people and what they are"


def test_english_months_days_and_first_words_of_sentences_are_no_names() -> None:
    assert names(ENGLISH) == ["Ahab", "Ahab", "Starbuck", "Ahab", "Starbuck"]


def test_german_nouns_are_no_names() -> None:
    assert names(GERMAN) == ["Leipzig", "Bach", "Johann Sebastian Bach", "LilyPond", "Programm Finale 2008", "CD"]


def test_french_first_words_months_and_joined_articles_are_no_names() -> None:
    assert names(FRENCH) == ["Ohm", "Fourier", "Paris", "Paris"]


def test_a_first_word_that_the_document_writes_with_a_capital_elsewhere_is_a_name() -> None:
    text = "Stubb lit his pipe. A stubb is no thing that we know, but the mate was Stubb and he was the second."
    assert names(text) == ["Stubb", "Stubb"]


def test_what_is_quoted_is_a_name_if_it_is_no_common_word() -> None:
    assert names("He reads “May” and the 'look' of it to the crew, and he looks at the sea.") == ["May"]


def test_a_name_with_a_month_in_it_stays_whole() -> None:
    assert names("The crew of the Black Sunday met on Sunday 5 with the others of it.") == ["Black Sunday"]


def test_another_text_of_the_document_is_evidence_too() -> None:
    evidence = gather_evidence(["It is not for the faint to pull the rope.", "Pull hard, and Pip was in the boat."])
    assert [span.form for span in find_document_names("Pull hard, and Pip was in the boat.", evidence)] == ["Pip"]


@given(
    st.lists(
        st.sampled_from([*(ENGLISH + GERMAN).split(), "ist", "das", "12", "«", "(", "_", "", "\n", "\n\n", " \n\n\n"])
    ).map(" ".join)
)
def test_the_evidence_of_paragraphs_is_that_of_the_whole_text(text: str) -> None:
    german = detect_language([text]) == "de"
    whole, found = name_evidence._count_words(text, name_evidence._NO_WORD, german=german), gather_evidence([text])
    counts = (found.lower, found.within, found.determined, found.bare)
    assert counts == tuple(map(Counter, (whole.lower, whole.within, whole.determined, whole.bare)))


PROSE = "the crew went on and the river did not stop for any of them while they were looking at the sea again. " * 90
"""Some pages in small letters: in a document of this length, names stand within sentences, too."""


@pytest.mark.parametrize(
    "text",
    [
        "Observed at 00Z and at 2024-03-06T10:00:00Z, until 04:59PM.",
        "| Grade | Hourly |\n| low | 20 |\n",
        "NAME\n\nThe page of a manual has a NAME and a SYNOPSIS. See THE RULES.",
        "Part XII of it, in Note 9 and in Section 16.2, siehe Abschnitt A.2.",
        "Furthermore, it rained. Determine the cause. Communicate with us.",
        "#define GFP_KERNEL 5\n  cc -Wall x.c\nmail to linux-u79uwXL29TY76Z2rM5mHXA@gmane.org",
        'It says "plans," “would,” and "cannot find -lfoo: %s\\n" and “/usr/lib/libtruc.so.1”.',
        "B. Security\n\nReturn of Materials\n\nInherent Limitations\n\n" + PROSE,
        "Unallocated cost\n\nSupplemental cash\n\n" + PROSE,
    ],
)
def test_dates_headings_code_and_common_words_are_no_names(text: str) -> None:
    assert names(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "You get the Bonus Payment if this Agreement ends, and no other Bonus Payment.\n\n" + PROSE,
        '"Permitted Liens" means the rest (the "Plan"). "Loan Date": the day; see “Text only”.\n\n' + PROSE,
        "It is a Change in Control, and no Limitation on Sales or Transfer of Sales.\n\n" + PROSE,
        "it has Purchaser's Representations and the Company’s Notes.\n\n" + PROSE,
        "as discussed in Item 7A, “Market Risk” and in “Risk Factors” below.\n\n" + PROSE,
        "he is the Vice President and Chief Executive Officer of it, and the CFO and the Board of Directors.",
        "see Section 3.4 of the Agreement, Exhibit A, Article TEN and Attachment C.\n\n" + PROSE,
        "4.04  Limitation of Remedies\n- Blocking of Robots\n(a) Required Filings\n\n" + PROSE,
        "Unrealized Losses | Amortized Cost | 1.2\nMonths Ended April 30 | 3\n\n" + PROSE,
        "Overview of the Rules . . . . . . . . 12\nMessage Forwarding ......... 14\n",
        "static int Foo_bar(BtCursor *pCur, int *pRes){\n  pPage->nCell = Bar;\n}\n#include <Xlib.h>\n",
        'begin 666 x.dat\nM=&5S=&5D.B R+C0N,3DM>&9S("A31TDG<R!#5E,@;VX@075G(#$W*0I.3U1%\n',
        "4iGZZbdFwmyNAWb/IrEYB0R4gp05sitDOl5URRlzYSM3IUYDrYpDUuX7Ta7bLvSd\n",
        'It is in \'src/names.py\', in "nterr.h" and “refs/heads/master”, says "call(X)".',
        "at 19960704T120000Z, 06-Nov-94 08, 10:00 A.M., 0x001FEB94, in Q1 2018, in 18.I.b or 3.If so.",
        "Hmmm, you’ll see. Ohhh! Nope, no. It is an XML-based and non-English text of Date/Time.",
        "Delivered-To: x\n\nNO PART OF THIS SHALL BE SOLD OR LENT.",
    ],
)
def test_terms_parts_roles_and_encoded_lines_are_no_names(text: str) -> None:
    assert names(text) == []


def test_identifiers_of_a_document_with_code_are_no_names() -> None:
    code = "  pCur->nCell = f();\n" * 12
    assert names(code + "\nThe field nCell counts the cells that iPad and SQLite read.") == ["SQLite"]
    assert names("The iPad has a cell.") == ["iPad"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("NVIDIA, RFC 9110 and ISO 27001; the A100, AMD and the EU.", "NVIDIA|RFC 9110|ISO 27001|A100|AMD|EU"),
        ("It is made by 3M and sold by Apple and by Apple.", "3M|Apple|Apple"),
        ("We filed Form 10-K with the SEC. Apple Inc. did so too.", "Form 10-K|SEC|Apple Inc"),
        ("Notwithstanding Debian, it ran. B. Smith wrote it.", "Debian|B. Smith"),
        ("Paris is large. Berlin is larger.", "Paris|Berlin"),
        ("The “Disclosing Party” and the 'debconf-updatepo' of “Gone with the Wind”.",
         "Disclosing Party|debconf-updatepo|Gone with the Wind"),
        ("The Bank of Montana, the Supreme Court and the Clean Air Act do. They sell Apple Watch by Apple.\n\n" + PROSE,
         "Bank of Montana|Supreme Court|Clean Air Act|Apple Watch|Apple"),
        ("It is the Certification of John D. Milton, under Rule 10b-5 and Regulation FD.\n\n" + PROSE,
         "John D. Milton|Rule 10b-5|Regulation FD"),
        ("From: Mark Brown <mark@example.org>\n\n" + PROSE, "Mark Brown"),
        ("It is in Dallas, Texas 75204, as Party B. If Smith comes, Party C goes.",
         "Dallas|Texas|Party B|Smith|Party C"),
        ("He likes the iPhone, eBay and Jean-Luc Godard.", "iPhone|eBay|Jean-Luc Godard"),
        ("He worked for Free Software Foundation and for Bank of America.\n\n" + PROSE,
         "Free Software Foundation|Bank of America"),
    ],
)  # fmt: skip
def test_companies_codes_and_terms_stay_names(text: str, found: str) -> None:
    assert names(text) == found.split("|")


GERMAN_MANUAL = (
    "Der Server liest die HTML-Dateien und die rej-Dateien aus dem Verzeichnis. Falls Debian auf dem Rechner läuft, "
    "ist die Debian-spezifische Änderung von Ada Lund aus Jena zu lesen. Damit Debian startet, wird z.B. 1.0.1-1 "
    "geladen. Die Daten werden von Plattform zu Plattform kopiert, und das Max-Planck-Institut ist "
    "mit der Arbeit zufrieden."
)


def test_of_a_german_compound_the_name_in_it_is_left() -> None:
    found = names(GERMAN_MANUAL)
    assert {"HTML", "Debian", "Ada Lund", "Jena"} <= set(found)
    assert not {"HTML-Dateien", "rej-Dateien", "Damit Debian", "Plattform zu Plattform", "z.B. 1.0.1-1", "Max"} & set(
        found
    )
    assert not [form for form in found if "spezifische" in form or "Dateien" in form]


def test_a_passage_in_another_language_is_read_in_it() -> None:
    german = (
        "Vielen Dank für die Anfrage. Die Schlepper stellt der Hafen, und der Anstrich wird von der Werft mit der "
        "Farbe geliefert. Die Arbeit ist auf dem Gelände von Ada Lund zu machen, und das Angebot ist nicht bis zum "
        "Ende des Monats zu halten, wenn die Werft es nicht mit dem Sitz in Jena schreibt."
    )
    evidence = gather_evidence([PROSE, german])
    assert evidence.language == "en"
    assert {span.form for span in find_document_names(german, evidence)} <= {"Ada Lund", "Jena"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The message 2B2173FF68 of the queue.", ""),
        ("It is D7:04:2F:A7:0B of the key.", ""),
        ("Run “postsuper -H” or the 'client.pem' of it.", ""),
        ("See section “Testing the daemon” for it.", ""),
        ("It is for COVID-19-related work and per-Milter use.", ""),
        ("It is stayed as 4:19-cv-00341 of the court.", ""),
        ("- Desks: they are on the left.", ""),
        ("The rights of any Third Party or of the Receiving Party.", "Receiving Party"),
        ("It is on the Department of Commerce’s Price List.", "Department of Commerce"),
        ("He wrote to Lloyd's Register and to Mark Twain.", "Lloyd's Register|Mark Twain"),
    ],
)
def test_what_stands_in_listings_and_beside_names_is_none(text: str, found: str) -> None:
    assert [form for form in names(text + "\n\n" + PROSE) if form in text] == [
        form for form in found.split("|") if form
    ]


def test_verbs_before_a_name_are_left_out_where_the_document_has_them_as_verbs() -> None:
    log = "They add a thing and add another, to add more of it, and fix it to fix what was to be fixed.\n\n" * 3
    found = names(log + PROSE + "\n\n- Add Semgrep to it.\n- Fix CVE-2021-23727 of it.\n- Mark Twain wrote it.\n")
    assert {"Semgrep", "CVE-2021-23727", "Mark Twain"} <= set(found)
