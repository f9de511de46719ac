"""How sentences and questions are worded: references, and reasons and changes, asked for or told."""

import pytest

from reasoning.strategies.extractive.quoting.wording import (
    Wanted,
    asks_for_each,
    asks_for_outlooks,
    asks_for_place,
    asks_what_is_left,
    explains_last,
    find_wanted,
    gives,
    is_reference,
    is_sentence,
    leave_out_each,
    split_owned,
)


@pytest.mark.parametrize(
    ("question", "head", "owner"),
    [
        ("What is the serial number of the torque wrench calibrated by Orb?", "serial number", "torque wrench"),
        ("Was ist die Seriennummer des Messschiebers?", "Seriennummer", "Messschiebers"),
        ("Who is the head of sales?", "", ""),
        ("How long is the tour?", "", ""),
    ],
)
def test_what_is_asked_for_and_of_what(question: str, head: str, owner: str) -> None:
    assert split_owned(question) == (head, owner)


@pytest.mark.parametrize(
    "sentence",
    [
        "Refer to Part I, Item 1, Note 13 of the Notes for a discussion of developments in our legal proceedings.",
        "See Note 5 below.",
        "For information on risks of manufacturing, see Item 1A.",
        "Information about the fees is set out in Schedule 2.",
        "The impact of foreign exchange is described in Part II, Item 7A.",
        "The following discussion should be read in conjunction with the risk factors.",
        "The following tables show cash by category as of 1 July.",
        "Siehe Abschnitt 4.",
        "Voir la section 3 pour plus de détails.",
    ],
)
def test_what_only_says_where_something_stands_is_a_reference(sentence: str) -> None:
    assert is_reference(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The decrease was due to higher costs (see Note 5).",
        "Payment is due within 30 days as described in Section 5.",
        "See the patient within two days.",
        "The Supplier delivers the goods listed in Schedule 1 within 10 days.",
        "Siehe da, es geht.",
    ],
)
def test_what_says_something_itself_is_no_reference(sentence: str) -> None:
    assert not is_reference(sentence)


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("Why did the margin fall?", Wanted(reason=True)),
        ("What factors contributed to it?", Wanted(reason=True)),
        ("How do exchange rates affect sales?", Wanted(reason=True)),
        ("Warum sank der Umsatz?", Wanted(reason=True)),
        ("Pourquoi la licence est-elle résiliée ?", Wanted(reason=True)),
        ("What accounting policies changed?", Wanted(change=True)),
        ("Welche Änderungen gibt es?", Wanted(change=True)),
        ("What is the factory's address?", Wanted()),
        ("May either party oppose a change?", Wanted()),
    ],
)
def test_a_question_wants_a_reason_or_a_change(question: str, wanted: Wanted) -> None:
    assert find_wanted(question) == wanted


def test_sentences_give_what_is_wanted() -> None:
    reason, change = Wanted(reason=True), Wanted(change=True)
    for sentence in ("It fell due primarily to lower prices.", "Er sank aufgrund der Preise.", "En raison du prix."):
        assert gives(reason, sentence)
        assert not gives(Wanted(), sentence)
    assert gives(change, "There have been no material changes to the policies since 2022.")
    assert not gives(change, "The preparation of statements requires management to make estimates.")
    assert not gives(reason, "Sales fell to 12 million.")


def test_a_sentence_may_explain_the_sentence_before_it() -> None:
    assert explains_last("The decrease was due to lower volume.")
    assert explains_last("Der Rückgang ist auf die Preise zurückzuführen.")
    assert not explains_last("Sales fell due to lower volume.")
    assert not explains_last("The decrease was large.")


def test_a_place_may_be_asked_for() -> None:
    assert asks_for_place("Which section has the fees?")
    assert not asks_for_place("What are the fees?")


def test_a_heading_is_no_sentence() -> None:
    assert not is_sentence("Quantitative Disclosures About Market Risk")
    assert is_sentence("Market risk did not change.")
    assert is_sentence("• higher volume")


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        (
            "How do floods affect Okeke? List this out separately for each reported period.",
            "How do floods affect Okeke?",
        ),
        ("What role had it? Please provide a breakdown for each reporting period.", "What role had it?"),
        ("What does each version of the policy say about hotels?", "What does of the policy say about hotels?"),
        ("Welche Risiken für die Fähre nennt jeder Bericht?", "Welche Risiken für die Fähre nennt?"),
        ("What is said of crews, by quarter?", None),
        ("How much rent is due each year?", None),
        ("How many days of leave are there per year?", None),
        ("What changed par rapport à 2023?", None),
    ],
)
def test_an_answer_of_each_version_may_be_asked_for(question: str, rest: str | None) -> None:
    assert asks_for_each(question) is (rest is not None)
    assert leave_out_each(question) == (question if rest is None else rest)


@pytest.mark.parametrize(
    ("question", "is_asked"),
    [
        ("How did the guidance for capital expenditure change during 2024?", True),
        ("Wie hat sich die Prognose für den Umsatz entwickelt?", True),
        ("What is the outlook for 2024?", False),
        ("How did revenue change during 2024?", False),
        ("The outlook is good. Has the price changed?", False),
    ],
)
def test_how_an_outlook_changed_is_told_by_each_report(question: str, is_asked: bool) -> None:
    assert asks_for_outlooks(question) is is_asked


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("How much did Orrin have left under its program?", True),
        ("What is left of the loan?", True),
        ("How many left-handed people are there?", False),
        ("How many left the firm?", False),
        ("Who left?", False),
    ],
)
def test_what_is_left_is_asked_for(question: str, *, asks: bool) -> None:
    assert asks_what_is_left(question) is asks
