"""Names in questions are reworded as the terms of the agreement that defines them, and only then."""

from dataclasses import replace

import pytest

from core.ports.retrieval import Hit
from reasoning.parties import reword_parties
from testing.word_search import hit

CONTRACT = (
    "This contract is made on 3 May 2024 between Halden Mills GmbH, Kiel (the “Employer”), and Mr Tor Vik, born on "
    "7 June 1990, of Bergen (the “Employee”)."
)
LEASE = "This Lease is made between Storvik Estates Limited (the “Landlord”) and Marn Tools plc (the “Tenant”)."
LONG_LEASE = (
    "THIS LEASE is made BETWEEN (1) MARN PLC (company number 9) whose office is at 70 Quay Street in a southern town"
    " (hereinafter called “the Lessor”) and (2) TOR VIK of 5 Elm Hill (hereinafter called “the Lessee”)."
)
STAFF = "Tor Vik | Head of Planning | Bergen"


def contract(key: str = "contract", title: str = "Contract of employment", text: str = CONTRACT) -> Hit:
    return hit(key, title, text)


@pytest.mark.parametrize(
    ("question", "reworded"),
    [
        ("Can Mr Vik take a second job?", "Vik; can the Employee take a second job?"),
        ("What is Tor Vik's notice period?", "Tor Vik; what is the Employee's notice period?"),
        ("Describe the notice period of Vik.", "Vik; describe the notice period of the Employee."),
        ("Can Halden Mills dismiss Vik?", "Halden Mills and Vik; can the Employer dismiss the Employee?"),
    ],
)
def test_parties_are_called_as_the_contract_calls_them(question: str, reworded: str) -> None:
    found = reword_parties(question, [hit("staff", "Staff", STAFF), contract(), hit("lease", "Lease", LEASE)])
    assert found is not None
    assert found.text == f"Consider Contract of employment of {reworded}"
    assert found.documents == {"contract"}
    assert "Contract of employment" in found.note


BETWEEN = "Zwischen der Halden GmbH (nachfolgend „der Arbeitgeber“) und Frau Ines Corvo, Kiel („die Arbeitnehmerin“)"
ENTRE = "Entre la société Halden (ci-après « le Client ») et Corvo SARL (ci-après « le Prestataire »)"
CALLED = 'By and between Halden Ltd, hereinafter called "Licensor", and Corvo Inc., hereinafter called "Licensee".'
IN_CAPITALS = CONTRACT.replace("Halden Mills", "HALDEN MILLS").replace("Tor Vik", "TOR VIK")


@pytest.mark.parametrize(
    ("opening", "question", "reworded"),
    [
        (IN_CAPITALS, "May Tor Vik use the car?", "may the Employee use the car?"),
        (CONTRACT.replace("3 May", "3. Mai"), "May Vik resign?", "may the Employee resign?"),
        (BETWEEN, "Darf Frau Corvo kündigen?", "darf die Arbeitnehmerin kündigen?"),
        (CALLED, "May Corvo sublicense?", "may the Licensee sublicense?"),
        (CONTRACT + " He drives a Corsa Van.", "Can Vik keep the Corsa Van?", "can the Employee keep the Corsa Van?"),
        (CONTRACT.replace("“Employee”", '"**Employee**"'), "Can Vik resign?", "can the Employee resign?"),
        (ENTRE, "Quel prix est versé à Corvo ?", "quel prix est versé au Prestataire ?"),
        (LONG_LEASE, "Can Marn re-enter?", "can the Lessor re-enter?"),
        (CONTRACT, "Who is Tor Vik?", None),
        (CONTRACT, "What is Vik's e-mail address?", None),
    ],
)
def test_openings_and_questions(opening: str, question: str, reworded: str | None) -> None:
    found = reword_parties(question, [contract(text=opening)])
    assert (found.text.partition("; ")[2] if found else None) == reworded


@pytest.mark.parametrize(
    ("opening", "question"),
    [
        ("Made between Anna Holm (the “Seller”) and Per Holm (the “Buyer”).", "Must Holm insure the boat?"),
        ("Made between Vik Holding GmbH (the “Employer”) and Tor Vik (the “Employee”).", "Can Vik resign?"),
        (
            "Made between Ravn represented by Ida Lund (the “Employer”) and Tor Vik (the “Employee”).",
            "Can Lund resign?",
        ),
        (
            "Made between Anna Bo Dahl Tor Vik Per Holm Ida Lund Nord (the “Fool”) and Eve (the “Boss”).",
            "Must Nord pay?",
        ),
        ("Prepared by Tor Vik (the “Author”) for Halden Mills (the “Company”).", "What did Vik write?"),
        (CONTRACT, "Tor Vik"),
    ],
)
def test_it_has_to_be_clear_whom_a_term_means(opening: str, question: str) -> None:
    assert reword_parties(question, [contract(text=opening)]) is None


def test_pages_of_the_web_are_no_openings() -> None:
    assert reword_parties("Can Vik resign?", [replace(contract(), url="https://example.org")]) is None


@pytest.mark.parametrize(
    ("opening", "asked"),
    [
        ("Zwischen Halden AG (die „Arbeitgeberin“) und Ines Corvo (die „Arbeitnehmerin“)", "kann die Arbeitnehmerin"),
        ("Zwischen Halden AG (nachfolgend „Mieterin“) und Ines Corvo (nachfolgend „Köchin“)", "kann Köchin"),
    ],
)
def test_articles_of_terms(opening: str, asked: str) -> None:
    found = reword_parties("Kann Corvo kündigen?", [contract(text=opening)])
    assert found is not None
    assert found.text.partition("; ")[2] == f"{asked} kündigen?"


def test_of_two_agreements_the_title_that_the_question_says_is_meant() -> None:
    loan = hit("loan", "Loan agreement", LEASE.replace("Tenant", "Borrower"))
    found = reword_parties("Can Marn Tools assign the lease?", [loan, hit("lease", "Lease of a mill", LEASE)])
    assert found is not None
    assert found.text == "Consider Lease of a mill of Marn Tools; can the Tenant assign the lease?"


def test_an_amendment_is_read_with_its_agreement() -> None:
    amendment = contract("amendment", "First Amendment to the Contract of employment")
    for hits in ([amendment], [amendment, contract()]):
        found = reword_parties("Can Vik take a second job?", hits)
        assert found is not None
        assert found.text.lower().removeprefix("consider ").removeprefix("the ").startswith("contract of employment")


@pytest.mark.parametrize(
    "question",
    [
        "Compare the notice periods of Vik and Corvo.",  # Corvo is no party
        "How far is Bergen?",  # a place in the address of a party
        "Can the employee take a second job?",
        "Consider the contract of Vik; can he take a second job?",
        "Can Vik end it? " + "He wonders. " * 50,
        "",
    ],
)
def test_other_questions_stay(question: str) -> None:
    assert reword_parties(question, [contract()]) is None


def test_of_several_agreements_none_is_meant() -> None:
    question = "Can Halden Mills sublet?"
    lease = hit("lease", "Lease", LEASE.replace("Marn Tools plc", "Halden Mills GmbH"))
    assert reword_parties(question, [contract(), lease]) is None
    agreements = [contract(str(number)) for number in range(3)]
    assert reword_parties("Can Vik take a second job?", agreements) is None
    amended = reword_parties("Can Vik take a second job?", agreements[:2])
    assert amended is not None
    assert amended.documents == {"0", "1"}


@pytest.mark.parametrize(
    "text",
    [
        "Halden Mills GmbH (the “Company”) reports its results. Sales were flat.",
        "Made between Halden Mills GmbH (“Halden”) and Corvo AG (“Corvo”).",  # only shorter names
        STAFF,
    ],
)
def test_other_documents_define_no_parties(text: str) -> None:
    assert reword_parties("What did Halden Mills earn?", [contract(text=text)]) is None
