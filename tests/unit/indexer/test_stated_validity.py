"""What the worker writes of validity into the metadata of a loaded document: sentences with places, and file names."""

from dataclasses import replace
from typing import Any

import pytest

from core.documents import loader_notes
from core.ports.indexing import Block, LoadedDocument
from core.validity.statements import STATEMENTS, StatementSource, read_statements
from indexer.loading.stated_validity import add_statements

SENTENCE = "This Policy takes effect on 1 May 2024."


def load(*blocks: Block, key: str = "a.md") -> LoadedDocument:
    return add_statements(LoadedDocument(key=key, title="A", blocks=blocks), {})


def stated(document: LoadedDocument) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = document.metadata.get(STATEMENTS, [])
    return found


def test_a_sentence_is_kept_verbatim_with_its_place() -> None:
    text = f"Staff travel.\n\n{SENTENCE} It costs nothing."
    document = load(Block(text=text, page=3, start=100))
    (statement,) = read_statements(document.metadata)
    found = statement.states, statement.value, statement.source
    assert found == ("valid_from", "2024-05-01", StatementSource.SENTENCE)
    assert statement.text.strip() == SENTENCE
    assert statement.page == 3
    assert statement.span is not None
    assert text[statement.span.start - 100 : statement.span.end - 100] == statement.text


def test_a_line_of_a_header_is_kept_with_its_place() -> None:
    text = "Request for Comments: 7230         Adobe\nObsoletes: 2145, 2616              J. Reschke\nISSN: 2070-1721\n"
    statements = read_statements(load(Block(text=text, start=10), key="rfc7230.txt").metadata)
    told = [(statement.states, statement.value, statement.text) for statement in statements]
    assert told == [("supersedes", number, "Obsoletes: 2145, 2616") for number in ("2145", "2616")]
    span = statements[0].span
    assert span is not None
    assert text[span.start - 10 : span.end - 10] == statements[0].text


def test_a_document_that_states_nothing_stays_as_it_is() -> None:
    document = LoadedDocument(key="v3.md", title="A", blocks=(Block(text="Lunch is at noon."),))
    assert add_statements(document, {}) is document


@pytest.mark.parametrize("value", ["2024-13-45", "soon", 2024, ["2024-05-01", "2024-06-01"]])
def test_a_field_that_should_be_a_day_is_told_and_kept(value: object) -> None:
    blocks = (Block(text="Lunch is at noon."),)
    plain = LoadedDocument(key="v.md", title="A", blocks=blocks)
    sent = add_statements(plain, {"valid_from": value})
    own = add_statements(replace(plain, metadata={"valid_from": value}), {})
    assert own.metadata["valid_from"] == value
    for document in (sent, own):
        (note,) = loader_notes(document.metadata)
        assert note.startswith("`valid_from` of its metadata is ")
        assert "2024-05-01, or leave the field out" in note


@pytest.mark.parametrize("value", ["2024-05-01", "2024-05-01T10:00:00Z", "", None])
def test_a_day_is_not_told(value: object) -> None:
    blocks = (Block(text="Lunch is at noon."),)
    document = LoadedDocument(key="v.md", title="A", blocks=blocks, metadata={"valid_to": value})
    assert add_statements(document, {}) is document


@pytest.mark.parametrize(
    ("key", "day"),
    [
        ("notes/2024-05-01 travel.md", "2024-05-01"),
        ("travel_2024_05_01.pdf", "2024-05-01"),
        ("travel-v3.md", None),
        ("2024/05/01/travel.md", None),
        ("2024-02-30 travel.md", None),
        ("12024-05-011.md", None),
        ("travel 2024.md", None),
    ],
)
def test_a_date_in_the_name_of_a_file_is_a_beginning(key: str, day: str | None) -> None:
    found = stated(load(Block(text="Lunch is at noon."), key=key))
    assert [statement["value"] for statement in found] == ([] if day is None else [day])
    assert all(statement["source"] == "file_name" for statement in found)


def test_a_sentence_counts_more_than_the_name_of_a_file() -> None:
    found = stated(load(Block(text=SENTENCE), key="2020-01-01.md"))
    assert [statement["source"] for statement in found] == ["sentence"]
    text = " ".join(f"This Policy replaces Order {number}/2020." for number in range(1, 40))
    assert len(stated(load(Block(text=text)))) == 12, "a document has at most so many"


def test_the_middle_of_a_long_document_is_not_read() -> None:
    filler = Block(text="Lunch is at noon. " * 4000)
    assert stated(load(filler, Block(text=SENTENCE), filler)) == []
    assert len(stated(load(filler, filler, Block(text=SENTENCE)))) == 1


def test_the_first_line_of_an_amendment_names_what_it_amends() -> None:
    text = "AMENDMENT NO. 1 TO LEASE DATED MAY 1, 2020\n\nLunch is at noon."
    (found,) = stated(load(Block(text=text)))
    assert (found["states"], found["value"]) == ("amends", "LEASE DATED MAY 1, 2020")
    assert found["text"] == text.partition("\n")[0]
    assert stated(load(Block(text=f"Lunch is at noon.\n\n{text}"))) == []


@pytest.mark.parametrize(
    ("blocks", "amended"),
    [
        (
            [Block(text="to the Lease of 1 May 2020 between Oak Ltd\n(“A”) and Elm AG.", heading=("Amendment No. 1",))],
            1,
        ),
        ([Block(text="# First Amendment\n\nto\n\nthe Lease of 1 May 2020\n\nLunch is at noon.")], 1),
        ([Block(text="Nachtrag Nr. 2", heading=("Nachtrag Nr. 2",)), Block(text="zum Lease of 1 May 2020.")], 1),
        ([Block(text="AMENDMENT No. 1\nto the Lease of 1 May 2020\n\nbetween Oak Ltd and Elm AG")], 1),
        ([Block(text="Amendment No. 1\nLunch is at noon.\nto the Lease of 1 May 2020")], 0),
        ([Block(text="Amendment No. 1\n\nLunch is at noon.\n\nto the Lease of 1 May 2020")], 0),
        ([Block(text="TO\n\nTHE Lease of 1 May 2020")], 0),
        ([Block(text="Amendment procedure\n\nto the Lease of 1 May 2020")], 0),
        ([Block(text="to the Lease of 1 May 2020", heading=("Letters",))], 0),
    ],
)
def test_the_name_of_an_amendment_may_stand_above_what_it_amends(blocks: list[Block], amended: int) -> None:
    found = [statement for statement in stated(load(*blocks)) if statement["states"] == "amends"]
    assert [statement["value"] for statement in found] == ["Lease of 1 May 2020"] * amended
    assert all("Lease of 1 May 2020" in statement["text"] for statement in found)


def test_the_title_of_a_document_may_be_the_name_of_an_amendment() -> None:
    block = Block(text="TO\n\nLEASE OF 1 MAY 2020\n\nbetween Oak Ltd and Elm AG")
    told = add_statements(LoadedDocument(key="a.md", title="AMENDMENT NO. 1", blocks=(block,)), {})
    assert [found["value"] for found in stated(told) if found["states"] == "amends"] == ["LEASE OF 1 MAY 2020"]


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("Lease\n\nbetween Oak Ltd (“A”) and Elm AG, Ulm (“B”),\ndated 1 May 2020.", True),
        ("Mietvertrag\n\nzwischen Oak Ltd und Elm AG\nvom 1. Mai 2020", True),
        ("Lease\n\nbetween Oak Ltd and Elm AG\n\nDated 1 May 2020", True),
        ("Lease\n\nbetween Oak Ltd and Elm AG, dated 1 May 2020, is over.", False),
        ("Letter\n\nDated 1 May 2020", False),
    ],
)
def test_the_day_of_an_agreement_may_stand_behind_its_parties(text: str, *, is_told: bool) -> None:
    days = [found["value"] for found in stated(load(Block(text=text))) if found["states"] == "valid_from"]
    assert days == ["2020-05-01"] * is_told


def test_a_sentence_goes_on_behind_an_abbreviation() -> None:
    text = "This Amendment binds Oak Ltd. (“Client”), and amends the Lease dated May 1, 2020. Lunch is at noon."
    (found,) = stated(load(Block(text=text)))
    assert found["text"].rstrip() == text.removesuffix(" Lunch is at noon.")


def test_the_parties_of_an_agreement_are_kept() -> None:
    (_, parties) = stated(load(Block(text="This Lease is made as of May 1, 2020 between Oak Ltd (“A”) and Elm AG.")))
    assert parties["value"] == ["oak", "elm"]


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("This Policy takes effect on 1 May 2024. It replaces the Travel Policy 2021.", True),
        ("9.1 This Policy takes effect on 1 May 2024.\n\n9.2 It replaces the Travel Policy 2021.", True),
        ("This Policy was made on 2 May 2024. It applies from 1 June 2024. It replaces the Travel Policy 2021.", True),
        ("Diese Satzung tritt am 1. Mai 2024 in Kraft. Sie ersetzt die Travel Policy 2021.", True),
        ("This Policy is about the Model 300. It replaces the Travel Policy 2021.", False),
        ("This Policy takes effect on 1 May 2024. The Model 300 is new. It replaces the Travel Policy 2021.", False),
        (
            "This Policy takes effect on 1 May 2024 and replaces the Rules 2020. It replaces the Travel Policy 2021.",
            False,
        ),
        ("This Policy takes effect on 1 May 2024. It may replace the Travel Policy 2021.", False),
        ("The handbook takes effect on 1 May 2024. It replaces the Travel Policy 2021.", False),
    ],
)
def test_a_pronoun_behind_the_days_of_a_document_is_the_document(text: str, *, is_told: bool) -> None:
    found = [statement["value"] for statement in stated(load(Block(text=text))) if statement["states"] == "supersedes"]
    assert ("Travel Policy 2021" in found) == is_told


AGREEMENT = "This Crane Maintenance and Support Agreement is made effective as of October 1, 2012 between A and B."
AMENDMENT = "This Second Amendment is dated November 15, 2019."


@pytest.mark.parametrize(
    ("texts", "days"),
    [
        ([AGREEMENT, AMENDMENT], ["2012-10-01"]),
        ([f"SECOND AMENDMENT\n\n{AMENDMENT}"], ["2019-11-15"]),
    ],
)
def test_an_amendment_behind_its_agreement_tells_no_day_of_the_agreement(texts: list[str], days: list[str]) -> None:
    document = load(*[Block(text=text) for text in texts])
    assert [found.value for found in read_statements(document.metadata) if found.states == "valid_from"] == days


@pytest.mark.parametrize(
    ("lines", "version"),
    [
        ("Version 2.0", ["2.0"]),
        ("**Version:** 2.0", ["2.0"]),
        ("Fassung 3", ["3"]),
        ("Version 2.0\n\nVersion 1.0", []),
        ("Version 2.0 is planned.", []),
        ("Lunch is at noon.", []),
    ],
)
def test_a_line_at_the_beginning_tells_the_version(lines: str, version: list[str]) -> None:
    text = f"{lines}\n\nThis Policy takes effect on 1 May 2024."
    assert [row["value"] for row in stated(load(Block(text=text))) if row["states"] == "version"] == version
