"""What sentences state on the validity of their document, a row for each wording; and what states nothing."""

import pytest

from core.validity.parts import is_in_part
from core.validity.sentences import read_sentence, read_title

STATED = [
    ("This Regulation shall enter into force on 1 May 2024.", [("valid_from", "2024-05-01")]),
    ("This Policy takes effect on May 1st, 2024.", [("valid_from", "2024-05-01")]),
    ("These Terms and Conditions apply from 2024-05-01.", [("valid_from", "2024-05-01")]),
    ("It shall apply from 25 May 2018.", [("valid_from", "2018-05-25")]),
    ("Effective date: 1 May 2024", [("valid_from", "2024-05-01")]),
    ("**Effective:** May 1, 2024", [("valid_from", "2024-05-01")]),
    (
        "This price list is valid from 1 January 2024 to 31 December 2024.",
        [("valid_from", "2024-01-01"), ("valid_to", "2024-12-31")],
    ),
    ("This Regulation shall cease to apply on 1 May 2024.", [("valid_to", "2024-04-30")]),
    ("This notice remains in force until 30 June 2025.", [("valid_to", "2025-06-30")]),
    ("This Regulation is hereby repealed with effect from 1 May 2024.", [("valid_to", "2024-04-30")]),
    ("This Regulation replaces Regulation (EC) No 45/2001.", [("supersedes", "Regulation (EC) No 45/2001")]),
    ("This Policy supersedes the Travel Policy of 1 March 2021.", [("supersedes", "Travel Policy of 1 March 2021")]),
    (
        "This Policy takes effect on 1 May 2024 and replaces the Travel Policy 2021 in its entirety.",
        [("valid_from", "2024-05-01"), ("supersedes", "Travel Policy 2021")],
    ),
    ("Article 8. Regulation No 12/2019 is hereby repealed.", [("supersedes", "Regulation No 12/2019")]),
    ("§ 12 (2) Sie tritt am 1. Mai 2024 in Kraft.", []),
    ("§ 12 Sie tritt am 1. Mai 2024 in Kraft.", [("valid_from", "2024-05-01")]),
    ("Directive 95/46/EC is repealed with effect from 25 May 2018.", [("supersedes", "Directive 95/46/EC")]),
    ("The Hygiene Rules 2019 are superseded by these Rules.", [("supersedes", "Hygiene Rules 2019")]),
    ("This Amendment amends the Lease of 1 March 2021.", [("amends", "Lease of 1 March 2021")]),
    (
        (
            "This Amendment No. 1 (the “Amendment”) is entered into as of September 15, 2024 between Oak LLC (“Client”)"
            " and Elm Ltd. (“Supplier”), and amends the Services Agreement between them dated March 1, 2023 (the “A”)."
        ),
        [("valid_from", "2024-09-15"), ("amends", "Services Agreement dated March 1, 2023")],
    ),
    (
        "This Second Amendment to the Lease dated 5 January 2020 is made as of 1 June 2022.",
        [("valid_from", "2022-06-01"), ("amends", "Lease dated 5 January 2020")],
    ),
    (
        "The parties hereby amend the Lease between Oak LLC and Elm Ltd dated January 5, 2020 as follows:",
        [("amends", "Lease dated January 5, 2020")],
    ),
    ("Die Parteien ändern den Mietvertrag vom 3. März 2020 wie folgt:", [("amends", "Mietvertrag vom 3. März 2020")]),
    (
        "This Services Agreement (this “Agreement”) is made as of March 1, 2023 between Oak LLC and Elm Ltd.",
        [("valid_from", "2023-03-01")],
    ),
    ("Dieser Vertrag wird am 3. März 2020 zwischen A und B geschlossen.", [("valid_from", "2020-03-03")]),
    ("Zwischen A und B wird am 3. März 2020 folgender Mietvertrag geschlossen:", [("valid_from", "2020-03-03")]),
    ("The Company filed Amendment No. 1 to the Lease dated May 1, 2020.", []),
    ("If the parties amend the Lease dated May 1, 2020, notice is given.", []),
    (
        "This deed is dated 2 May 2024 and is supplemental to a lease of Unit 7, Elm Works dated 1 March 2021.",
        [("valid_from", "2024-05-02"), ("amends", "lease of Unit 7 dated 1 March 2021")],
    ),
    ("This Deed varies the Lease dated 3 May 2020.", [("amends", "Lease dated 3 May 2020")]),
    ("This deed is supplemental to other deeds.", []),
    ("Regulation 12/2019 is amended as follows:", [("amends", "Regulation 12/2019")]),
    ("This Lease, as amended by Amendment No. 1, binds both.", [("amended_by", "Amendment No. 1")]),
    ("Diese Satzung tritt am 1. Mai 2024 in Kraft.", [("valid_from", "2024-05-01")]),
    ("Diese Gebührenordnung gilt ab dem 01.05.2024.", [("valid_from", "2024-05-01")]),
    ("Diese Verordnung tritt mit Wirkung vom 1. Januar 2023 in Kraft.", [("valid_from", "2023-01-01")]),
    ("Gültig ab: 1. Mai 2024", [("valid_from", "2024-05-01")]),
    ("Diese Richtlinie tritt mit Ablauf des 30. April 2024 außer Kraft.", [("valid_to", "2024-04-30")]),
    ("Diese Richtlinie tritt am 1. Mai 2024 außer Kraft.", [("valid_to", "2024-04-30")]),
    ("Dieser Vertrag endet am 30.06.2025.", [("valid_to", "2025-06-30")]),
    ("Diese Satzung ersetzt die Satzung vom 3. März 2015.", [("supersedes", "Satzung vom 3. März 2015")]),
    (
        "Gleichzeitig tritt die Friedhofssatzung vom 3. März 2015 außer Kraft.",
        [("supersedes", "Friedhofssatzung vom 3. März 2015")],
    ),
    (
        "Diese Satzung tritt am 1. Mai 2024 in Kraft; gleichzeitig tritt die Satzung vom 3. März 2015 außer Kraft.",
        [("valid_from", "2024-05-01"), ("supersedes", "Satzung vom 3. März 2015")],
    ),
    ("Die Reisekostenrichtlinie 2019 wird hiermit aufgehoben.", [("supersedes", "Reisekostenrichtlinie 2019")]),
    ("Diese Richtlinie löst die Richtlinie 7/2018 ab.", [("supersedes", "Richtlinie 7/2018")]),
    ("Dieser Nachtrag ändert den Mietvertrag vom 1. März 2021.", [("amends", "Mietvertrag vom 1. März 2021")]),
]
NOTHING = [
    "This Regulation shall not enter into force on 1 May 2024.",
    "This Policy may take effect on 1 May 2024.",
    "If this Policy takes effect on 1 May 2024, the old one ends.",
    "The draft of this Policy takes effect on 1 May 2024.",
    "Does this Policy take effect on 1 May 2024?",
    "This Agreement supersedes all prior agreements and understandings, written or oral.",
    "This document replaces everything that was agreed on its subject.",
    "The requirement for C is amended, permitting files to be elsewhere.",
    "Effective July 1, 2018, under the requirements of the standard, the country was designated as inflationary.",
    "The Budget 2019 is hereby replaced by the Budget 2020.",
    "Die Satzung 7/2015 wird hiermit durch die Satzung 9/2020 ersetzt.",
    "Nothing in this Agreement supersedes the Master Agreement No. 12.",
    "This Policy partially replaces Policy 12.",
    "Subject to approval, this Policy replaces Policy 12.",
    "When signed, this Agreement replaces the Agreement of 3 May 2019.",
    "§ 5 der Satzung vom 3. März 2015 wird hiermit aufgehoben.",
    "This Amendment replaces Annex 2.",
    "It replaces Model 300.",
    "This report shows how Regulation 5/2023 repeals Regulation 12/2019.",
    "The court held that this contract replaces the Contract of 3 May 2019.",
    "This Policy is repealed on 0001-01-01.",
    "Mit Ablauf des 31. Dezember 9999 tritt die Satzung 2010 außer Kraft.",
    "The tenant replaces broken windows.",
    "Regulation 45/2001 is repealed, as everybody knows.",
    "The meeting of 1 May 2024 came into force of habit.",
    "The offer is valid until Friday.",
    "Diese Satzung tritt nicht am 1. Mai 2024 in Kraft.",
    "Der neue Motor ersetzt den Motor von 2019.",
    "Falls diese Satzung am 1. Mai 2024 in Kraft tritt, gilt das Folgende.",
    "This Regulation enters into force on 30 February 2024.",
]


@pytest.mark.parametrize(("sentence", "stated"), STATED, ids=[sentence for sentence, _ in STATED])
def test_what_is_stated(sentence: str, stated: list[tuple[str, str]]) -> None:
    assert [(statement.states, statement.value) for statement in read_sentence(sentence)] == stated


@pytest.mark.parametrize("sentence", NOTHING)
def test_what_states_nothing(sentence: str) -> None:
    assert read_sentence(sentence) == []


def test_a_repeal_keeps_the_day_that_its_sentence_names() -> None:
    (statement,) = read_sentence("From 1 May 2030 this Policy replaces the Travel Policy 2021.")
    assert (statement.value, statement.since) == ("Travel Policy 2021", "2030-05-01")
    (statement,) = read_sentence("Directive 95/46/EC is repealed with effect from 25 May 2018.")
    assert statement.since == "2018-05-25"
    (statement,) = read_sentence("Mit Ablauf des 30. April 2024 tritt die Satzung 7/2015 außer Kraft.")
    assert statement.since == "2024-05-01"


@pytest.mark.parametrize(
    ("line", "stated"),
    [
        ("Obsoletes: 2145, 2616                       J. Reschke, Ed.", ["supersedes 2145", "supersedes 2616"]),
        ("Request for Comments: 7230\nUpdates: 2817         greenbytes\nISSN: 2070-1721", ["amends 2817"]),
        ("Obsoleted by: 9110", ["superseded_by 9110"]),
        ("**Supersedes:** Regulation No 12/2019", ["supersedes Regulation No 12/2019"]),
        ("Superseded-By: 517", ["superseded_by 517"]),
        ("Obsoletes: 7231, and parts of 7230", ["supersedes 7231"]),
        ("Ersetzt: Satzung 2019", ["supersedes Satzung 2019"]),
        ("This document obsoletes RFC 2616.", ["supersedes RFC 2616"]),
        ("Replaces: libfoo (<< 1.2)", []),
        ("Updates: new features for 3 users and more", []),
        ("The server updates: 12 files", []),
    ],
)
def test_a_line_of_a_header(line: str, stated: list[str]) -> None:
    assert [f"{statement.states} {statement.value}" for statement in read_sentence(line)] == stated


@pytest.mark.parametrize(
    ("sentence", "stated"),
    [
        ("Article 6(1) of this Regulation applies from 2 August 2027.", ("valid_from", "2027-08-02", "Article 6(1)")),
        ("Section 5 of this Agreement expires on 31 December 2025.", ("valid_to", "2025-12-31", "Section 5")),
        ("Section 7 is repealed with effect from 1 May 2023.", ("valid_to", "2023-04-30", "Section 7")),
        (
            "However: (a) Chapters I and II shall apply from 2 February 2025;",
            ("valid_from", "2025-02-02", "Chapters I and II"),
        ),
        ("§ 5 dieser Satzung tritt am 1. Januar 2026 in Kraft.", ("valid_from", "2026-01-01", "§ 5")),
        ("§ 12 tritt mit Ablauf des 31. Dezember 2025 außer Kraft.", ("valid_to", "2025-12-31", "§ 12")),
        ("§ 5 und § 7 gelten ab dem 1. Juli 2025.", ("valid_from", "2025-07-01", "§ 5 und § 7")),
    ],
)
def test_a_part_is_not_the_whole_document(sentence: str, stated: tuple[str, str, str]) -> None:
    assert [(found.states, found.value, found.part) for found in read_sentence(sentence)] == [stated]


@pytest.mark.parametrize(
    "sentence",
    [
        "Section 5 of the Lease expires on 31 December 2025.",
        "The amendments in Section 2 of this Policy apply from 1 May 2024.",
        "Section 5 of this Policy may apply from 1 May 2024.",
    ],
)
def test_a_part_of_another_document_or_a_proposal_states_nothing(sentence: str) -> None:
    assert read_sentence(sentence) == []


@pytest.mark.parametrize(
    ("part", "heading", "before", "is_in"),
    [
        ("Articles 5 to 8", "Chapter II › Article 6 Classification", "", True),
        ("Articles 5 to 8", "Article 9", "", False),
        ("Article 6(1)", "6. Fees", "", True),
        ("Section 5", "Terms", "5.2 Notice\nThe tenant pays.", True),
        ("Section 5", "Terms", "5. Notice\nThe tenant pays.\n6. Term\nThree years.", False),
        ("Section 5", "Terms", "4. Delivery\n5 days after delivery it ends.", False),
        ("Section 5", "Terms", "2024-01-01 was a Monday.\n5. Term\nThree years.", True),
        ("Section 5", "Annex 5", "", False),
        ("Chapters I and II", "Chapter II › Article 6", "", True),
        ("§§ 3, 5 und 7", "§ 5 Gebühren", "", True),
        ("Chapter III Section 4, Chapter V", "Section 4", "", False),
        ("Sections 1 to 9999", "Section 400", "", True),
    ],
)
def test_a_passage_is_in_a_part_by_headings_and_numbered_lines(
    part: str, heading: str, before: str, *, is_in: bool
) -> None:
    assert is_in_part(part, heading, before) is is_in


@pytest.mark.parametrize(
    ("line", "days"),
    [("DATED 14 March 2022", ["2022-03-14"]), ("Dated 3 May 2020 between A and B", []), ("Updated 3 May 2020", [])],
)
def test_a_first_line_may_be_the_day(line: str, days: list[str]) -> None:
    assert [statement.value for statement in read_title(line)] == days
