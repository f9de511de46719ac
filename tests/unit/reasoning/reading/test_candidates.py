"""What can answer a question, listed by code."""

import pytest

from reasoning.reading import (
    Form,
    are_sentences_asked,
    find_form,
    is_judgement_asked,
    is_short_answer_asked,
    list_candidates,
    list_judgements,
    list_sides,
)
from testing.word_search import hit

MILL = hit(
    "mill",
    "Ravelin Mills (company)",
    "Ravelin Mills was founded by Ines Corvo on 3 May 1901. It sold 3,200,000 bales for EUR 1,200 in 1920.",
)


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("Who founded Ravelin Mills?", Form.VALUE),
        ("Is Ravelin Mills older than Corvo?", Form.JUDGEMENT),
        ("Ist Porto eine Stadt?", Form.JUDGEMENT),
        ("Consider the lease of Porto; may the tenant sublet?", Form.JUDGEMENT),
        ("Which is older, Ravelin Mills or Corvo Works?", Form.CHOICE),
        ("Is Porto or Lisbon further north?", Form.CHOICE),
        ("Which mills were founded in 1901 or later?", Form.VALUE),
    ],
)
def test_the_form_of_an_answer(question: str, form: Form) -> None:
    assert find_form(question) is form


def test_judgements_are_in_the_language_of_the_question() -> None:
    assert list_judgements("Is it red?") == ("yes", "no")
    assert list_judgements("Hat er recht?") == ("ja", "nein")
    assert list_judgements("Est-ce que c'est rouge ?") == ("oui", "non")
    assert list_judgements("¿Es rojo?") == ("sí", "no")
    assert list_judgements("Who is red?") == ()
    assert list_judgements("Was bedeutet die Komponente contrib im Archiv?") == ()


def test_the_sides_of_a_choice() -> None:
    assert list_sides("Which is older, Ravelin Mills or Corvo Works?") == ("Ravelin Mills", "Corvo Works")
    assert list_sides("Was ist älter, Porto oder Lissabon?") == ("Porto", "Lissabon")
    assert list_sides("Who founded Ravelin Mills?") == ()


@pytest.mark.parametrize(
    ("question", "candidates"),
    [
        ("When was it founded?", ("3 May 1901", "1920")),
        ("Who founded the company?", ("Ravelin Mills", "Ines Corvo")),
        ("Who founded Ravelin Mills?", ("Ines Corvo",)),
        ("How many bales were sold?", ("3", "1901", "3,200,000 bales for", "EUR 1,200 in", "1920")),
    ],
)
def test_candidates_have_the_kind_that_is_asked_for(question: str, candidates: tuple[str, ...]) -> None:
    assert list_candidates(question, [MILL]) == candidates


@pytest.mark.parametrize(
    ("question", "is_short"),
    [
        ("Who founded Ravelin Mills?", True),
        ("Is it red?", True),
        ("What is the notice period?", True),
        ("Why was it closed?", False),
        ("How does the mill work?", False),
        ("List the owners of the mill.", False),
        ("What are the duties of the tenant?", False),
        ("Erkläre, wer die Mühle baute.", False),
        ("the mill at Porto", False),
        ("Did it buy looms, and if so, what did they cost?", False),
        ("Which risk factors has the mill?", False),
        ("Who may enter the mill?", False),
        ("Wer darf die Mühle betreten?", False),
        ("Qui peut entrer dans le moulin ?", False),
        ("What kind of personal data does the mill keep?", False),
        ("What kind of wood are the looms made of?", True),
        ("Which data center runs the mill?", True),
        ("What important bookkeeping policy changes did it make?", False),
        ("What is the relationship between looms and belts?", False),
        ("Which owner of the mill was born in Porto and was a weaver?", True),
        ("Who founded it? " * 100, False),
    ],
)
def test_a_short_answer_is_asked_for(question: str, is_short: bool) -> None:
    assert is_short_answer_asked(question) is is_short


@pytest.mark.parametrize(
    ("question", "are_asked"),
    [
        ("List the suppliers.", True),
        ("Can you list the suppliers?", True),
        ("Give me a complete list of suppliers.", True),
        ("What is the pump's price in the price list?", False),
        ("Which supplier is first on the list?", False),
        ("Selon le contrat, comment résilier ?", True),
        ("Who wrote the comment on page 3?", False),
        ("Resume el contrato.", True),
        ("Whose resume names Java?", False),
    ],
)
def test_a_noun_asks_for_no_sentences(question: str, are_asked: bool) -> None:
    assert are_sentences_asked(question) is are_asked


@pytest.mark.parametrize(
    ("question", "is_asked"),
    [
        ("Consider Halden's lease; may the Receiving Party assign the Agreement to Ravelin Mills?", True),
        ("May a tenant sublet?", True),
        ("Darf der Mieter untervermieten?", True),
        ("Are Alien and Jaws by the same director?", False),
        ("Consider Halden's lease; when does it end?", False),
    ],
)
def test_yes_or_no_about_one_thing(question: str, is_asked: bool) -> None:
    assert is_judgement_asked(question) is is_asked
