"""Chapters and titles of plain text: what is one, and what only looks like one."""

import time

import pytest

from core.documents import loader_notes
from indexer.loaders import txt
from indexer.loading.texts.chapters import find_chapters, find_title
from indexer.loading.texts.layout import join_pages
from indexer.loading.texts.sections import make_sections
from testing.contracts.loader import source_of

BODY = "It was a long day, and nobody spoke. The river went on."


def headings(text: str) -> list[str]:
    return [heading.title for heading in find_chapters(text, find_title(text))]


def under(*lines: str) -> str:
    """Each line as a heading on its own, with prose below it."""
    return "\n\n".join(f"{line}\n\n{BODY}" for line in lines) + "\n"


@pytest.mark.parametrize(
    "lines",
    [
        ("CHAPTER I.", "CHAPTER II."),
        ("Chapter 1: The Whale", "Chapter 2: The River"),
        ("Chapter One", "Chapter Two", "Chapter the Last"),
        ("Chapter IV — Home", "Chapter V — Away"),
        ("Preface", "Introduction", "Epilogue"),
        ("Kapitel 1", "Kapitel 2", "Anhang A"),
        ("Chapitre premier", "Chapitre deux"),
        ("ГЛАВА ПЕРВАЯ", "ГЛАВА ВТОРАЯ"),
        ("第一章 开始", "第二章 中间", "第十二回　结束"),
        ("1. Introduction", "1.1 Scope", "2. Results", "2.1 Numbers", "3 Outlook"),
        ("0. Definitions.", "1. Source Code.", "2. Basic Permissions."),
        ("I. Youth", "II. Age", "III. Death"),
        ("I", "II", "III"),
        ("THE RIVER BANK", "THE OPEN ROAD"),
    ],
)
def test_headings_are_found(lines: tuple[str, ...]) -> None:
    assert headings(BODY + "\n\n" + under(*lines)) == [" ".join(line.split()) for line in lines]


@pytest.mark.parametrize(
    "text",
    [
        under("Chapter IV describes the whale."),
        under("Chapter IV describes the whale"),
        under("Part of me is glad"),
        under("Act now, they said"),
        under("DO NOT OPEN THE BOX"),
        under("THIS IS A SENTENCE IN CAPITALS.", "SO IS THIS, AND IT GOES ON!"),
        under("WARNING: THE FLOOR IS WET."),
        "Shopping:\n\n1. Milk\n\n2. Bread\n\n3. Eggs\n",
        "We need\n\n1. Milk\n2. Bread\n3. Eggs\n\nand nothing else. That is all.\n",
        under("1. Only one"),
        under("BENGALI LETTER KHINYA;0995 09CD", "GEORGIAN LETTER U-BRJGU;10E3 0302"),
        under("# COMMENT ONE", "# COMMENT TWO"),
        under("export MAX_SIZE=5", "MAX_SIZE MIN_SIZE"),
        under("3. Out of order", "7. Still out of order"),
        under("2024 was a good year.", "2025 was not."),
        "    第三章讲述了鲸鱼的故事。\n\n从前有一座山。\n",
        f"{BODY}\nCHAPTER I\n{BODY}\n",
        "- - -\n\n* * *\n\n=====\n",
        "A table\n\nname   born\n-----  ----\nAda    1815\n",
    ],
)
def test_sentences_and_lists_are_no_chapters(text: str) -> None:
    assert headings(text) == []


CLAUSE = (
    "The Receiving Party shall keep the Confidential Information in confidence, and shall use it for the Purpose. " * 3
)


@pytest.mark.parametrize(
    "titles",
    [
        ("1. DEFINITIONS", "2. TERM", "3. RETURN OF MATERIAL"),
        ("1. Definitions", "2. Return of Confidential Information"),
        ("I. TERM AND TERMINATION", "II. PURPOSE OF AGREEMENT", "III. WAIVER"),
        ("GRANT OF RIGHTS", "GOVERNING LAW"),
        ("Section 1. Definitions", "Section 2. Term"),
    ],
)
def test_headings_between_paragraphs_of_a_line(titles: tuple[str, ...]) -> None:
    text = "\n".join(f"{title}\n1. {CLAUSE}\n{CLAUSE}" for title in titles) + "\n"
    assert headings(text) == list(titles)
    assert headings(text.replace(". The", ".\nThe")) == []  # lines that are no paragraphs


def test_small_clauses_are_one_block() -> None:
    """A large clause has its heading; of small clauses the headings stand in the text, below the heading above them."""
    text = f"1. TITLE\n{CLAUSE}\n2. TERM\n{CLAUSE}\n3. RETURN\n{4 * CLAUSE}\n4. LAW\n{CLAUSE}\n"
    [small, large, last] = make_sections(text, 0, find_chapters(text, ""), "", joins_small=True)
    assert (small.heading, large.heading, last.heading) == ((), ("3. RETURN",), ("4. LAW",))
    assert small.text == f"1. TITLE\n{CLAUSE}\n2. TERM\n{CLAUSE}\n"
    assert all(text[block.start or 0 :].startswith(block.text) for block in (small, large, last))
    document = txt.TextLoader(txt.Config()).load(source_of(text.encode()))
    assert [block.heading for block in document.blocks] == [(), ("3. RETURN",), ("4. LAW",)]


def test_underlines_and_their_order() -> None:
    text = f"The Title\n=========\n\n{BODY}\n\nFirst\n-----\n{BODY}\n\nInner\n~~~~~\n\n{BODY}\n\n"
    text += f"Second\n------\n\n{BODY}\n"
    found = find_chapters(text, find_title(text))
    assert find_title(text) == "The Title"
    assert [(heading.title, heading.level) for heading in found] == [("First", 10), ("Inner", 20), ("Second", 10)]
    assert all(text[heading.start : heading.end].startswith(heading.title) for heading in found)


def test_a_line_below_a_chapter_is_its_title() -> None:
    text = f"CHAPTER I.\nDown the Hill\n\n{BODY}\n\nCHAPTER II\n\nTHE POOL\n\n{BODY}\n"
    assert headings(text) == ["CHAPTER I. Down the Hill", "CHAPTER II THE POOL"]


@pytest.mark.parametrize("word", ["Kapitel", "Chapter"])
def test_sections_below_chapters_with_a_word_need_no_number_above_them(word: str) -> None:
    lines = [
        *(f"{word} 1. Anfang", "1.1. Was ist das?", "1.1.1. Ein Paket", "1.3. Wie geht es weiter?"),
        *(f"{word} 9. Hochladen", "9.1. In das Archiv hochladen", "9.2. Die Datei", "Anhang A. Weiteres"),
    ]
    noise = ["4.2. Aus einem anderen Kapitel", "1.1. Noch einmal"]
    found = find_chapters(under(*lines[:4], noise[0], *lines[4:6], noise[1], *lines[6:]), "")
    assert [heading.title for heading in found] == lines
    assert [heading.level for heading in found] == [2, 12, 13, 12, 2, 12, 12, 2]


def test_numbers_of_their_own_below_chapters_stay() -> None:
    lines = ["Chapter 1: Wells", "1. Digging", "2. Filling", "2.1 Sand", "3. Closing"]
    assert headings(under(*lines)) == lines


def test_a_heading_of_two_lines() -> None:
    chapter = "Kapitel 15. Zu erwartende Änderungen in der nächsten Hauptversion von\nDebian"
    question = "15.2. Muss ich in den Einzelbenutzermodus wechseln, um ein Paket zu\n  aktualisieren?"
    text = under("Kapitel 14. Davor", chapter, "15.1. Härten", question, "15.3. Und danach")
    found = find_chapters(text, "")
    titles = [chapter.replace("\n", " "), "15.1. Härten", " ".join(question.split())]
    assert [heading.title for heading in found][1:4] == titles
    assert [text[heading.start : heading.end].strip() for heading in found][1:4] == [chapter, "15.1. Härten", question]


@pytest.mark.parametrize(
    "text",
    [
        under("Chapter 4. The whale is the largest animal that the sea has ever brought\nto the shore of men."),
        under("Chapter 4. A short one\nBelow it"),
        under("1.1 A paragraph of three lines that begins with a number and goes on and\non and\non"),
    ],
)
def test_a_paragraph_that_begins_like_a_heading_is_none(text: str) -> None:
    assert headings(text) == []


@pytest.mark.parametrize(
    ("lines", "levels"),
    [
        (("TABLE OF CONTENTS", "I. Youth", "II. Age", "III. Death"), [11, 11, 11, 11]),
        (("Preface", "1. Wells", "1.1 Digging", "2. Rivers", "References"), [11, 11, 12, 11, 11]),
        (("Preface", "THE RIVER BANK", "THE OPEN ROAD"), [10, 10, 10]),
        (("THE ART OF WAR", "OF THIS EDITION", "I. Youth", "II. Age", "III. Death"), [20, 20, 11, 11, 11]),
        (("THE FIRST DAYS", "I. Youth", "II. Age", "THE LAST DAYS", "III. Death"), [10, 21, 21, 10, 21]),
        (("Preface", "Chapter 1: A", "THE RIVER BANK", "THE OPEN ROAD"), [2, 2, 10, 10]),
        (("Contents", "Chapter 1: Wells", "1.1 Digging", "1.2 Filling"), [2, 2, 12, 12]),
    ],
)
def test_what_comes_first_is_not_above_the_rest_of_a_book(lines: tuple[str, ...], levels: list[int]) -> None:
    found = find_chapters(under(*lines), "")
    assert [heading.level for heading in found] == levels
    assert [heading.start for heading in found] == sorted(heading.start for heading in found)


def test_parts_contain_chapters() -> None:
    found = find_chapters(under("PART ONE", "Chapter 1", "PART TWO", "Chapter 1"), "")
    assert [heading.level for heading in found] == [1, 2, 1, 2]


def test_a_table_of_contents_is_no_chapter() -> None:
    contents = "CHAPTER I. Down\nCHAPTER II. Up\nCHAPTER III. Home\n\n"
    spaced = "Chapter 1\n\nChapter 2\n\nChapter 3\n\n"
    assert headings(contents + under("CHAPTER I. Down", "CHAPTER II. Up")) == ["CHAPTER I. Down", "CHAPTER II. Up"]
    assert headings(spaced + under("Chapter 1", "Chapter 2")) == ["Chapter 1", "Chapter 2"]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (f"The Whale and the River\n\n{BODY}", "The Whale and the River"),
        (f"\n\n  A  title \r\n\r\n{BODY}", "A title"),
        (f"EX-10.9\n\nService Agreement\n\n{BODY}", "Service Agreement"),
        (f"Exhibit 99.4\n\nService Agreement\n\n{BODY}", "Service Agreement"),
        ("红楼梦\n\n从前有一座山。", "红楼梦"),
        (f"Report\n------\n{BODY}", "Report"),
        (f"{BODY}\n\n{BODY}", ""),
        (f"A first line\n{BODY}", ""),
        ("Dear Anna,\n\nI write to you from London. All is well.", ""),
        ("Milk\n\nBread\n\nEggs", ""),
        (f"- an item\n\n{BODY}", ""),
        (f"# Grammar\n\n{BODY}", ""),
        (f"Chapter 1\n\n{BODY}", ""),
        (f"2024-05-01\n\n{BODY}", ""),
        ("Only a line", ""),
        ("", ""),
    ],
)
def test_the_first_line_is_the_title_where_it_is_one(text: str, title: str) -> None:
    assert find_title(text) == title


@pytest.mark.parametrize("text", ["x" * 5_000_000, "\n" * 1_000_000, "CHAPTER " * 300_000, "1. A\n\n" * 100_000])
def test_the_time_is_linear(text: str) -> None:
    started = time.thread_time()
    find_chapters(text, find_title(text))
    assert time.thread_time() - started < 10


PARAGRAPH = (
    "   The committee met in Hamburg on a cold morning and discussed\n   the construction of the bridge for hours.\n\n"
)


def printed(*parts: tuple[str, int]) -> str:
    """Headings at the margin, each with some indented paragraphs below it."""
    return "".join(f"{line}\n\n{PARAGRAPH * count}" for line, count in parts)


def test_lines_further_left_than_the_prose_are_headings_beside_those_with_numbers() -> None:
    parts = [("Status of this Memo", 1), ("1. Ships", 2), ("1.1. hulls", 1), ("Security Considerations", 2)]
    parts += [("2. Ports", 1), ("2.2. Piers", 1), ("4. After one that was not seen", 1), ("Authors' Addresses", 1)]
    found = find_chapters(printed(*parts), "")
    assert [heading.title for heading in found] == [title for title, _ in parts]
    assert [heading.level for heading in found] == [11, 11, 12, 11, 11, 12, 11, 11]


def test_a_name_of_a_part_is_above_nothing_and_ends_after_a_tenth_of_the_text() -> None:
    long = "\n\n".join([BODY * 4] * 400)
    text = f"{BODY}\n\nReferences\n\n{long}\n"
    blocks = make_sections(text, 0, find_chapters(text, ""), "")
    below = sum(len(block.text) for block in blocks if block.heading == ("References",))
    assert 0 < below < 0.11 * len(text)
    assert "".join(block.text for block in blocks).count(BODY) == 1601
    text = under("Contents", "Chapter 1. Wells", "References", "1.1 Digging", "1.2 Filling", "Appendix A", "Index")
    paths = [block.heading for block in make_sections(text, 0, find_chapters(text, ""), "")]
    assert paths[2:5] == [("References",), ("Chapter 1. Wells", "1.1 Digging"), ("Chapter 1. Wells", "1.2 Filling")]


def test_a_table_of_contents_is_not_above_the_text() -> None:
    lines = ["Chapter 1. Wells", "1.1 Digging", "Chapter 2. Rivers", "2.1 Boats", "Appendix A. Maps"]
    text = "Contents\n\n" + "\n\n".join(lines) + "\n\n" + under(*lines)
    assert headings(text)[-5:] == lines
    assert not any("Maps" in title for title in headings(text)[:-5])


def test_entries_of_a_changelog_are_headings() -> None:
    entries = [f"gawk (1:5.{n}-1) unstable; urgency=medium" for n in range(4)]
    change = "\n\n  * New upstream version, which is faster than the one before it.\n"
    assert headings("\n".join(entry + change for entry in entries)) == entries


def test_a_line_in_the_middle_of_the_first_page_is_the_title() -> None:
    head = f"Network Working Group{' ' * 43}P. Chown\nRequest for Comments: 3268{' ' * 35}June 2002\n\n\n"
    title = ["Advanced Encryption Standard (AES) Ciphersuites for the", "Transport Layer (TLS)"]
    text = head + "".join(f"{line:^72}\n" for line in title) + "\n" + PARAGRAPH
    assert find_title(text) == "Advanced Encryption Standard (AES) Ciphersuites for the Transport Layer (TLS)"
    assert find_title(PARAGRAPH * 3 + text) == ""


def test_printed_pages_are_one_text_without_their_headers_and_footers() -> None:
    pages = [
        f"RFC 1{' ' * 30}Ships{' ' * 20}May 1998\n\n\n   The {n}. paragraph goes on\n\n\nChown{' ' * 40}[Page {n}]\n"
        for n in range(1, 7)
    ]
    joined = join_pages("\f\n".join(pages)).text
    assert joined.count("Chown") == 0
    assert joined.count("RFC 1") == 1, "the first may be the title"
    lines = [line.strip() for line in joined.splitlines() if "paragraph" in line]
    assert lines == [f"The {n}. paragraph goes on" for n in range(1, 7)]
    assert join_pages("one\fpage break").text == "one\fpage break"
    cut = join_pages("\f".join(f"   word {n} of a sentence that\n   goes" for n in "abcd")).text
    assert "goes\n   word b" in cut


def test_numbered_lines_that_may_be_headings_are_named_in_a_note() -> None:
    pages = [f"Lesson {n}\n\nThe words of this page are of their own, {word}.\n" for n, word in enumerate("abcde", 1)]
    loader = txt.build(txt.Config(), None)
    loaded = loader.load(source_of("\f".join(pages).encode(), key="a.txt"))
    [note] = loader_notes(loaded.metadata)
    assert note.startswith("lines that number its pages are left out, such as 'Lesson 1'; txt:running_lines=true")
    assert "Lesson 2" not in loaded.pages[0]
    kept = txt.build(txt.Config(running_lines=True), None).load(source_of("\f".join(pages).encode(), key="a.txt"))
    assert "Lesson 2" in kept.pages[0]
    assert not loader_notes(kept.metadata)
    footers = [page.replace("Lesson ", "Postel, page ") for page in pages]
    assert not loader_notes(loader.load(source_of("\f".join(footers).encode(), key="b.txt")).metadata)


def test_paragraphs_of_an_rfc_go_on_at_the_next_page() -> None:
    header = "RFC 8259                          JSON                     December 2017"
    bodies = [
        "   The numbers are read by all of the implementations of the last\n   256",
        "   years.  A parser of JSON texts that a server receives from the\n   network of",
        "   Example Ltd is slow\n   today.",
        "   - it reads\n   - it writes",
        "   A grammar has rules that are short\n   and plain",
        "3.1.  Values\n\n   Text.",
        "   A string is quoted\n   by",
        "   Chapter 4\n\n   End.",
    ]
    footer = f"Bray{' ' * 25}Standards Track{' ' * 20}[Page"
    pages = [
        f"{header if n else '   The JSON Format'}\n\n\n{body}\n\n\n{footer} {n + 1}]\n" for n, body in enumerate(bodies)
    ]
    text = join_pages("\f\n".join(pages)).text
    assert "Bray" not in text
    assert header not in text, "the title is on the first page"
    assert "the last\n   256\n   years.  A" in text
    assert "network of\n   Example Ltd is slow\n   today.\n\n   - it reads" in text
    assert "   - it writes\n\n   A grammar has" in text
    assert "and plain\n\n3.1.  Values" in text
    assert "quoted\n   by\n\n   Chapter 4" in text


def test_numbers_go_on_after_one_that_is_left_out() -> None:
    lines = ("1. Parties", "2. Terms", "3. Price", "5. Payment", "6. Notices")
    assert headings(under(*lines)) == list(lines)
    assert headings(under(*lines[:4])) == list(lines[:3]), "no later number confirms it"


def test_a_long_section_ends_where_numbers_went_on_unseen() -> None:
    """The headings from 9 on do not count up from 3, so they are none; section 2 does not contain them, though."""
    begin = f"{BODY}\n\n" + under("1. Parties", "2. Price", "3. Terms")
    text = f"{begin}\n{f'{BODY} ' * 200}\n\n{under('9. Notices', '12. Law')}\n{BODY * 400}\n"
    found = find_chapters(text, "")
    assert [heading.title for heading in found] == ["1. Parties", "2. Price", "3. Terms", ""]
    assert text[found[-1].start :].startswith("9. Notices")


SIGNED = [f"EMPLOYER\n\n{line}" for line in ("/s/ Ada Holm", "By: Ada Holm", "____________")]
CORPORATION = "NORTHERN\nHARBOUR RESOURCES\n\nCORPORATION"


@pytest.mark.parametrize("capitals", [*SIGNED, "END OF TERMS", "PAGE 17", CORPORATION])
def test_signatures_names_and_ends_in_capitals_are_no_headings(capitals: str) -> None:
    text = f"{under('RECITALS', 'PAYMENT')}\n\n{capitals}\n\n{BODY}\n"
    assert headings(f"{BODY}\n\n{text}") == ["RECITALS", "PAYMENT"]


def test_a_section_ends_where_the_next_one_begins_with_its_text() -> None:
    begin = under("Section 2.14. Payments", "Section 2.15. Fees")
    text = f"{begin}\nSection 2.16. Losses. The borrower pays what is lost.\n\n{BODY}\n"
    found = find_chapters(text, "")
    assert [heading.title for heading in found] == ["Section 2.14. Payments", "Section 2.15. Fees", ""]
    assert text[found[-1].start :].startswith("Section 2.16. Losses. The borrower")


def test_a_rule_below_a_paragraph_is_no_underline() -> None:
    rule = "-" * 72
    assert headings(f"{BODY}\n\nMost readers get it wrong at first, and that is fine.\n{rule}\n\n{BODY}\n") == []
