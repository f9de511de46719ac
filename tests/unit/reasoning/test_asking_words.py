"""Words by which a question asks a document, and which say nothing of the answer."""

import pytest

from reasoning.actions.replies import format_answer_form
from reasoning.asking_words import asks_what_is_told, find_report_words, leave_out_asking
from reasoning.citations.held import find_unheld


@pytest.mark.parametrize(
    ("question", "report"),
    [
        ("In Okeke's Q1 2023 10-Q, compare the debt with the cash", "In Okeke's Q1 2023 10-Q, "),
        ("What changes did Okeke report in the latest quarterly report?", " in the latest quarterly report"),
        ("Which risks are new, as stated in its Q3 2023 10-Q, and why?", ", as stated in its Q3 2023 10-Q"),
        ("What was the margin as stated in the most recent 10-Q report?", " as stated in the most recent 10-Q report"),
        ("Welche Risiken nennt Okeke im letzten Quartalsbericht?", " im letzten Quartalsbericht"),
        ("When must the tenant deliver a report?", ""),
        ("Who reports to the board in 2023?", ""),
    ],
)
def test_the_words_that_name_a_report_are_known(question: str, report: str) -> None:
    found = find_report_words(question)
    assert (found[0] if found else "") == report


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("Does the agreement state that fees may rise?", "Does fees may rise?"),
        ("Does the document include a clause that forbids pets?", "Does forbids pets?"),
        ("Does the policy allow refunds?", "Does allow refunds?"),
        ("Does the lease of Halden mention pets?", "Does the lease of Halden mention pets?"),
        ("Did Norwick disclose any acquisitions?", "Did Norwick any acquisitions?"),
        ("Were there any acquisitions reported by Norwick?", "Were there any acquisitions by Norwick?"),
        ("Erwähnt der Vertrag eine Kündigungsfrist?", "eine Kündigungsfrist?"),
        ("Est-ce que le contrat précise que le loyer augmente ?", "le loyer augmente ?"),
        ("Did the company report the breach?", "Did the company report the breach?"),
        ("Does the policy?", "Does the policy?"),
        ("Does the contract have a termination clause?", "Does have a termination clause?"),
        ("Does the contract have a term of five years?", "Does have a term of five years?"),
        ("Has the report disclosed any loss?", "Has any loss?"),
        ("Did the report notebook get lost?", "Did notebook get lost?"),
        ("Did Norwick report the theft to the police?", "Did Norwick report the theft to the police?"),
        ("Is breakfast included in the price of a room?", "Is breakfast included in the price of a room?"),
        ("Was sagt der Bericht über Schulden?", "Was sagt der Bericht über Schulden?"),
        ("What does the contract say about pets?", "What does pets?"),
        ("Hi\n\nwas it\nfine?", "Hi\n\nwas it\nfine?"),
    ],
)
def test_what_asks_a_document_is_left_out(question: str, rest: str) -> None:
    assert leave_out_asking(question) == rest


@pytest.mark.parametrize(
    ("question", "is_told"),
    [
        ("Does the policy mention refunds?", True),
        ("Does the policy allow refunds?", False),
        ("Was consent given?", False),
        ("Has the contract been signed?", False),
        ("Was the accident reported by the tenant?", False),
        ("Were there any acquisitions reported in its Q2 2023 10-Q?", True),
        ("Does Norwick report any acquisitions?", True),
        ("Is Norwick older than Belvane?", False),
        ("Did the company acquire Belvane?", False),
    ],
)
def test_in_the_last_call_the_silence_of_a_document_is_an_answer(question: str, is_told: bool) -> None:
    assert asks_what_is_told(question) is is_told
    assert ("do not mention" in format_answer_form(question, is_last=True)) is is_told
    assert "do not mention" not in format_answer_form(question)


def test_the_name_of_a_report_is_no_second_name_that_is_compared() -> None:
    assert "yes, no or partly" in format_answer_form("Were there any acquisitions by Norwick in its Q2 2023 10-Q?")
    assert not format_answer_form("Is the harbour of Norwick older than the harbour of Belvane?")


def test_words_that_ask_a_document_need_not_stand_in_it() -> None:
    question = "Consider the Halden NDA; Does the document indicate that the tenant is to deliver a list of visitors?"
    text = "Halden NDA\nThe tenant delivers a list of guests."
    assert not find_unheld("yes", [text], question)
