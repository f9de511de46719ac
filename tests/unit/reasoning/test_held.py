"""What passages hold of an answer."""

import pytest

from reasoning.citations.held import find_unheld, is_document_named

_QUESTION = "Where was the founder of Ravelin Mills born, and when?"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Ines Corvo", "Ravelin Mills was founded by Inés Corvo in 1901."),
        ("3.2 million", "They sold 3,200,000 bales."),
        ("3,200,000 bales", "They sold 3.2 million bales."),
        ("EUR 1.234,56", "The fee is 1,234.56 EUR."),
        ("EUR 4,500", "The fee is 4'500 EUR."),
        ("1 234 567", "There were 1,234,567 of them."),
        ("three", "There were 3 mills."),
        ("12", "There were twelve mills."),
        ("５", "There were 5 mills."),
        ("٥", "There were 5 mills."),
        ("May 5, 1990", "It was signed on 1990-05-05."),
        ("5. Mai 1990", "It was signed on May 5, 1990."),
        ("14 March 2021", "It was signed on 14.03.2021."),
        ("the mill of Porto", "A mill was built in Porto."),
        ("Москва", "Она родилась в городе Москва."),
        ("東京", "本社は東京にある。"),
        ("48%", "Revenue grew by 48 percent."),
        ("1990s", "It was popular in the 1990s."),
        ("$20", "It costs 20 dollars."),
        ("Austria", "An Austrian company was founded."),
        ("Q4", "It opened in the fourth quarter."),
        ("in the fourth quarter", "It opened in Q4."),
        ("the CEO", "The chief executive officer signed it."),
    ],
)
def test_values_are_held_in_any_form(answer: str, text: str) -> None:
    assert find_unheld(answer, [text], _QUESTION) == ()


@pytest.mark.parametrize(
    ("answer", "text", "unheld"),
    [
        ("EUR 345", "The fee is 435 EUR.", ("345",)),
        ("Ines Corvo", "Ravelin Mills was founded by Paul Corvo.", ("Ines Corvo",)),
        ("June 1990", "It was signed in May 1990.", ("june",)),
        ("1991", "It was signed in May 1990.", ("1991",)),
        ("seven", "There were 3 mills.", ("seven",)),
        ("Q3", "It opened in the fourth quarter.", ("3",)),
        ("320,000", "They sold 3.2 million bales.", ("320,000",)),
        ("a swan", "A black duck sat there.", ("swan",)),
        ("the answer is a swan", "A black duck sat there.", ("swan",)),
        ("大阪", "本社は東京にある。", ("大阪",)),
        ("Ravelin Mills", "A mill was built in Porto.", ("Ravelin Mills",)),
        ("It was founded by Ines Corvo in 1901, and burnt down in 1920.", "Ines Corvo founded it in 1901.", ("1920",)),
    ],
)
def test_what_is_not_held_is_told(answer: str, text: str, unheld: tuple[str, ...]) -> None:
    assert find_unheld(answer, [text], _QUESTION) == unheld


GERMAN = "Die Kündigungsfrist beträgt drei Monate zum Ende eines Quartals. Der Mieter Jan Kohl trägt die Kosten."


@pytest.mark.parametrize(
    ("answer", "unheld"),
    [
        ("drei Monate zum Quartalsende", ()),
        ("Der Mieter trägt die Kosten der Reparatur, und die Frist beträgt drei Monate bis zum Ende des Quartals.", ()),
        ("vier Monate", ("vier",)),
        ("Der Mieter Jan Kahl", ("Mieter Jan Kahl",)),
    ],
)
def test_nouns_in_german_are_no_names(answer: str, unheld: tuple[str, ...]) -> None:
    assert find_unheld(answer, [GERMAN], "Wie lang ist die Frist, und wer trägt die Kosten?") == unheld


def test_words_that_begin_a_sentence_of_prose_are_no_names() -> None:
    prose = (
        "Overall, the mill grew. Specifically, Ines Corvo bought looms, and the growth went on for years after that."
    )
    assert find_unheld(prose, ["Ines Corvo bought looms for the mill."], _QUESTION) == ()
    assert find_unheld(prose, ["Paul Corvo bought looms for the mill."], _QUESTION) == ("Ines Corvo",)


def test_a_decimal_number_is_not_one_of_its_digits() -> None:
    assert find_unheld("42", ["It costs 4.2 francs."], "How many?") == ("42",)
    assert find_unheld("4.2", ["It costs 4,2 Franken."], "How many?") == ()


def test_a_letter_is_compared_as_it_is() -> None:
    assert find_unheld("C", ["Lemons have vitamin C."], "Which vitamin do lemons have?") == ()
    assert find_unheld("D", ["Lemons have vitamin C."], "Which vitamin do lemons have?") == ("D",)


def test_an_endless_answer_is_not_compared() -> None:
    assert find_unheld("1 " * 50_000, ["1"], _QUESTION) == ("all of its 100,000 characters",)


def test_the_words_of_a_name_stand_in_one_text() -> None:
    assert find_unheld("Ines Corvo", ["Ines Lopes wrote it.", "Paul Corvo read it."], _QUESTION) == ("Ines Corvo",)


def test_a_judgement_is_held_if_the_names_of_the_question_are() -> None:
    question = "Are Alien and Jaws by the same director?"
    assert find_unheld("No", ["Alien is by Ridley Scott.", "Jaws is by Steven Spielberg."], question) == ()
    assert find_unheld("No", ["Alien is by Ridley Scott."], question) == ("Jaws",)


def test_what_the_question_has_needs_no_evidence() -> None:
    text = "Ines Corvo came from Porto."
    assert find_unheld("The founder of Ravelin Mills was Ines Corvo.", [text], _QUESTION) == ()


def test_without_evidence_nothing_is_held() -> None:
    assert find_unheld("Porto", [], _QUESTION) == ("Porto",)
    assert find_unheld("yes", [], "Are Alien and Jaws films?") == ("Alien", "Jaws")


@pytest.mark.parametrize(
    ("evidence", "is_held"),
    [
        ("EFCAConfidentialityAgreement\nEFCA shall keep no copies of Confidential Information, unless needed.", True),
        ("EFCAConfidentialityAgreement\nThis agreement is governed by the laws of France.", False),
        ("Lease of Halden\nThe Receiving Party may keep copies of Confidential Information.", False),
    ],
)
def test_a_judgement_on_a_document_that_is_named(evidence: str, is_held: bool) -> None:
    question = "Consider EFCA's Agreement; may the Receiving Party keep copies of Confidential Information?"
    assert (find_unheld("No", [evidence], question) == ()) is is_held


@pytest.mark.parametrize(
    ("answer", "unheld"),
    [
        ("yes: the tenant may sublet a room for 3 months", ()),
        ("yes: the tenant may sublet a room for 6 months", ("6",)),
        ("no: Marta Ferrand must agree before the tenant may sublet to anybody else than a relative", ("Ferrand",)),
        ("yes:", ()),
    ],
)
def test_a_judgement_with_a_reason_needs_both(answer: str, unheld: tuple[str, ...]) -> None:
    question = "Consider the Halden lease; may the tenant sublet a room?"
    lease = "Halden lease\nThe tenant may sublet a room for 3 months."
    assert find_unheld(answer, [lease], question) == unheld
    assert find_unheld(answer, ["Ravelin lease\nThe tenant may sublet a room for 3 or 6 months."], question)


@pytest.mark.parametrize(
    ("question", "evidence"),
    [
        ("Consider the NDA of DBT; may the Receiving Party disclose?", "Zeta NDA\nThe Receiving Party may disclose."),
        ("Consider the lease of New York; may he sublet?", "Other lease\nHe may sublet, as all new owners say."),
        ("Consider the lease of the Art House; may he sublet?", "Partnership\nHe may sublet the house."),
        ("is the sky blue?", "cooking\nBoil the eggs."),
    ],
)
def test_a_judgement_is_not_held_by_another_document(question: str, evidence: str) -> None:
    assert find_unheld("yes", [evidence], question)


@pytest.mark.parametrize(
    ("lead_in", "title"),
    [
        ("the Non-Disclosure Agreement between CopAcc and ToP Mentors", "CopAcc_NDA-and-ToP-Mentors_2.0_2017"),
        ("DBT's Mutual Non-Disclosure Agreement", "DBT%20Mutual%20NDA"),
        ("the Data Use Agreement in New York City", "Data Use Agreement New York City"),
        ("EFCA's Non-Disclosure Agreement", "EFCAConfidentialityAgreement"),
        ("the lease", "anything"),
    ],
)
def test_a_title_is_the_document_of_a_lead_in(lead_in: str, title: str) -> None:
    assert is_document_named(lead_in, f"{title}\nIts text.")


@pytest.mark.parametrize("answer", ["The tenant may sublet.", "Yes, the tenant may sublet.", "the answer", ".", "blue"])
def test_an_answer_that_repeats_the_question_needs_evidence(answer: str) -> None:
    assert find_unheld(answer, ["cooking\nBoil the eggs."], "may the tenant sublet, or is it blue?")


def test_a_judgement_without_a_document_needs_all_names() -> None:
    evidence = ["Random House Tower\nRandom House Tower is a building used for real estate."]
    question = "Are Random House Tower and Halden Building both used for real estate?"
    assert find_unheld("Yes", evidence, question) == ("Halden Building",)


def test_what_a_judgement_lacks_is_told_without_words_that_only_ask() -> None:
    question = "Consider Keep's privacy policy; can my workout data possibly be given to anyone else, e.g. to insurers?"
    evidence = ["Keep's privacy policy\nWe may share personal details with affiliate companies."]
    assert find_unheld("yes", evidence, question) == ("what the question calls “workout”, “data”, “insurers”",)
