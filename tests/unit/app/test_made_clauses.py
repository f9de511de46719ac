"""Questions of contracts, policies and tables: what each form of sentence or row asks, and what it does not ask."""

import pytest

from app.services.made_questions.clause_sentences import find_sentences, read_clause, shorten_phrase
from app.services.made_questions.making import make_questions
from app.services.made_questions.material import Material, Passage
from app.services.made_questions.questions import Kind
from core.documents import Span
from core.errors import InvalidInput


def make(*texts: str, kind: Kind = Kind.CLAUSE) -> dict[str, str]:
    """Returns the questions of one document with these passages, each with its answer."""
    passages, at = [], 0
    for number, text in enumerate(texts):
        span = Span(start=at, end=at + len(text))
        passages.append(Passage(id=str(number), key="lease", title="Lease", text=text, span=span))
        at += len(text)
    material = Material(passages=passages, facts=[], names={}, total=1, documents=1, languages={"en": 1})
    made = make_questions(material, 100, 0, [kind]).questions
    for question in made:
        (quote,) = question.quotes
        assert quote.text in " ".join(quote.passage.text.split())
    return {question.text: question.answer for question in made}


@pytest.mark.parametrize(
    ("sentence", "question", "answer"),
    [
        (
            "4.2 The Tenant shall keep the garden behind the house in good order.",
            "In “Lease”, who must keep the garden behind the house in good order?",
            "Tenant",
        ),
        (
            "The Tenant shall not keep animals in the house or garden.",
            "In “Lease”, who must not keep animals in the house or garden?",
            "Tenant",
        ),
        (
            "Subject to clause 7, the Landlord may enter the house and the garden by day.",
            "In “Lease”, who may enter the house and the garden by day?",
            "Landlord",
        ),
        (
            "Upon the end of the lease, the Tenant shall return the keys of the house to the Landlord.",
            "In “Lease”, what must the Tenant do upon the end of the lease?",
            "return the keys of the house to the Landlord",
        ),
        (
            "The Tenant shall repair the windows within thirty (30) days of a storm, at its own cost.",
            "In “Lease”, within how many days of a storm must the Tenant repair the windows, at its own cost?",
            "thirty (30) days",
        ),
        (
            "The Landlord may terminate this Lease by giving 60 days’ written notice to the Tenant.",
            "In “Lease”, with how many days' notice to the Tenant may the Landlord terminate this Lease?",
            "60 days",
        ),
        (
            "The deposit shall be kept by the bank for a period of two years after the end of the lease.",
            "In “Lease”, for how many years after the end of the lease must the deposit be kept by the bank?",
            "two years",
        ),
        (
            "The Landlord may sell the house and the garden if the Tenant agrees in writing.",
            "In “Lease”, in which case may the Landlord sell the house and the garden?",
            "if the Tenant agrees in writing",
        ),
        (
            "You can delete your account with us by writing to our office in Basel.",
            "In “Lease”, how can you delete your account with us?",
            "by writing to our office in Basel",
        ),
        (
            "We may use your name and your address to send the keys of the house.",
            "In “Lease”, why may we use your name and your address?",
            "to send the keys of the house",
        ),
        (
            "“Rent” means the amount that is due on the first day of each month.",
            "In “Lease”, what does “Rent” mean?",
            "the amount that is due on the first day of each month",
        ),
        (
            "This Lease shall be governed by and construed under the laws of the State of Ohio.",
            "The laws of which state or country govern “Lease”?",
            "the State of Ohio",
        ),
    ],
)
def test_a_sentence_asks(sentence: str, question: str, answer: str) -> None:
    assert make(sentence)[question] == answer


@pytest.mark.parametrize(
    "sentence",
    [
        "The Tenant shall not keep animals in the house, except a cat or two.",
        "The Tenant shall return them to such person as stated in the foregoing clause.",
        "The Tenant was glad to have the house and the garden for a year.",
        "The headings of the clauses shall be for convenience and nothing else.",
        "The Tenant shall pay the sum of ________ on the first day of each month.",
    ],
)
def test_a_sentence_that_is_unclear_alone_or_has_an_exception_asks_nothing(sentence: str) -> None:
    with pytest.raises(InvalidInput):
        make(sentence)


def test_a_duty_of_two_parties_and_a_term_that_is_defined_twice_are_not_asked() -> None:
    duty = "The Tenant shall keep the garden behind the house in good order."
    defined = "“Rent” means the amount that is due on the first day of each month."
    again = "“Rent” means the amount that the parties agreed on in writing."
    for one, other in ((duty, duty.replace("Tenant", "Landlord")), (defined, again)):
        assert make(one)
        with pytest.raises(InvalidInput, match="no question can be made"):
            make(one, other)


def test_headings_and_numbers_are_no_part_of_a_clause() -> None:
    text = "3. Return of Keys Upon request of the Landlord, the Tenant shall return all keys of the house."
    (found,) = find_sentences(text)
    clause = read_clause(found.text)
    assert clause is not None
    assert clause.opening == "upon request of the Landlord"
    assert (clause.subject, clause.does) == ("the Tenant", "return all keys of the house")


def test_a_phrase_ends_before_what_restricts_it() -> None:
    assert shorten_phrase("return the keys, except the key of the garden", 100) == "return the keys"
    assert shorten_phrase("return the keys to the", 100) == ""


def test_rows_that_name_their_cells_are_asked_for() -> None:
    orders = ((1001, "Mill Inn", 345), (1002, "Orell Press", 80), (1003, "Mill Inn", 12))
    rows = "".join(f"Order: {order}; Customer: {name}; Amount: {amount}\n" for order, name, amount in orders)
    made = make(rows, kind=Kind.CELL)
    assert made["In “Lease”, what is the value of Customer where Order is 1002?"] == "Orell Press"
    assert made["In “Lease”, what is the value of Amount where Order is 1003?"] == "12"
    assert len(made) == 6


def test_a_row_whose_name_another_passage_has_is_not_asked_for() -> None:
    rows = "Room: Blue | Seats: 40\nRoom: Red | Seats: 12\nRoom: Green | Seats: 9\n"
    others = "Room: Blue | Seats: 41\nRoom: Grey | Seats: 13\nRoom: White | Seats: 8\n"
    assert len(make(rows, kind=Kind.CELL)) == 3
    asked = make(rows, others, kind=Kind.CELL)
    assert len(asked) == 4
    assert "In “Lease”, what is the value of Seats where Room is Blue?" not in asked


def test_two_lines_with_colons_are_no_table() -> None:
    with pytest.raises(InvalidInput):
        make("From: Ada; To: Rolf\nSubject: Keys; Date: Monday\n", kind=Kind.CELL)
