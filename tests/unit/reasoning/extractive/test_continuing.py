"""Which sentence beside a quote is quoted with it."""

from dataclasses import replace

import pytest

from core.ports.retrieval import PassageCounts
from reasoning.strategies.extractive.quoting.asked import read_question
from reasoning.strategies.extractive.quoting.continuing import continue_quote
from reasoning.strategies.extractive.quoting.units import list_units
from testing.word_search import hit

NURSERY = (
    "Sales of roses fell by 8%. A late frost killed the buds in two greenhouses. The shop opens at nine.\n\n"
    "The tenant keeps the greenhouse locked. If it is left open at night, the tenant pays for the heating. "
    "The keys are with the porter."
)
LOAN = (
    "Either side may end the loan at the close of a quarter. Notice is given three months before. The form is free.\n"
    "The loan is secured by the barn."
)
TOUR = "The tour starts at the old mill. It takes 90 minutes. Dogs are welcome."
CLOSED = "The visit on 3 June is off. The group meets on 10 June instead."
LIST = (
    "- Roof: dry.\n- Pump: the seal leaked. Cost: CHF 420.\n- Fence: two posts were replaced. "
    "(`#71 <https://farm.example/71>`__)\n- Gate: painted."
)


def quote(question: str, text: str, begins: str, *, is_first: bool = True) -> str:
    asked = read_question(question, PassageCounts())
    unit = next(unit for unit in list_units(asked, [hit("a", "", text)], 200) if unit.text.startswith(begins))
    return continue_quote(asked, question, unit, is_first=is_first).text


def test_the_reason_may_stand_in_the_next_sentence() -> None:
    asked = "Why did the sales of roses fall?"
    continued = "Sales of roses fell by 8%. A late frost killed the buds in two greenhouses."
    assert quote(asked, NURSERY, "Sales") == continued
    assert quote(asked, NURSERY, "Sales", is_first=False) == "Sales of roses fell by 8%."
    assert quote("How did the sales of roses develop?", NURSERY, "Sales") == "Sales of roses fell by 8%."
    given = NURSERY.replace("fell by 8%", "fell because of the frost")
    assert quote(asked, given, "Sales") == "Sales of roses fell because of the frost."


def test_the_reason_may_stand_in_the_sentence_before() -> None:
    asked = "Why is the order of roses cancelled?"
    text = "The shop is new. Our guests fell ill. So the order of roses is off in June."
    assert quote(asked, text, "So the") == "Our guests fell ill. So the order of roses is off in June."
    assert quote("Who cancelled the order of roses?", text, "So the") == "So the order of roses is off in June."
    last = text.replace("So the", "The")
    assert quote(asked, last, "The order") == "Our guests fell ill. The order of roses is off in June."
    assert quote(asked, f"{last} They are sorry.", "The order") == "The order of roses is off in June. They are sorry."
    assert quote(asked, last, "The order", is_first=False) == "The order of roses is off in June."


def test_a_consequence_may_stand_in_the_next_sentence() -> None:
    asked = "What happens if the tenant does not lock the greenhouse?"
    assert quote(asked, NURSERY, "The tenant").endswith("the tenant pays for the heating.")
    assert quote("Who locks the greenhouse?", NURSERY, "The tenant") == "The tenant keeps the greenhouse locked."


def test_the_second_of_two_questions_may_be_answered_by_the_next_sentence() -> None:
    asked = "Can either side end the loan, and with what notice?"
    assert quote(asked, LOAN, "Either") == LOAN[: LOAN.index(" The form")]
    assert quote("Can either side end the loan?", LOAN, "Either") == LOAN[: LOAN.index(" Notice")]


def test_a_value_may_stand_in_the_next_sentence() -> None:
    assert quote("How long is the tour from the mill?", TOUR, "The tour") == TOUR[: TOUR.index(" Dogs")]
    assert quote("Where does the tour start?", TOUR, "The tour") == "The tour starts at the old mill."


def test_a_sentence_that_points_back_goes_with_the_sentence_before() -> None:
    assert quote("When does the group meet?", CLOSED, "The group") == CLOSED
    assert quote("How long does the tour take?", TOUR, "It takes") == TOUR[: TOUR.index(" Dogs")]
    assert quote("Are dogs welcome?", TOUR, "Dogs") == "Dogs are welcome."


@pytest.mark.parametrize("begins", ["- Pump", "Cost"])
def test_a_short_item_is_quoted_whole(begins: str) -> None:
    assert quote("What did the pump cost?", LIST, begins) == "- Pump: the seal leaked. Cost: CHF 420."


def test_an_item_is_quoted_without_its_link() -> None:
    assert quote("What was done to the fence?", LIST, "- Fence") == "- Fence: two posts were replaced."


def test_no_sentence_of_another_paragraph_and_no_row_continues_a_quote() -> None:
    apart = TOUR.replace("mill. It", "mill.\n\nIt")
    assert quote("How long is the tour from the mill?", apart, "The tour") == "The tour starts at the old mill."
    table = "The tour starts at the old mill.\nTour | Minutes\nMill | 90\nLake | 45\n"
    assert quote("How long is the tour from the mill?", table, "The tour") == "The tour starts at the old mill."


def test_the_span_is_the_place_of_the_words() -> None:
    asked = read_question("How long is the tour from the mill?", PassageCounts())
    (unit, *_) = list_units(asked, [hit("a", "", f"Tours.\n\n{TOUR}")], 200)[1:]
    found = continue_quote(asked, "How long is the tour from the mill?", unit, is_first=True)
    assert unit.hit.chunk.text[found.span.start : found.span.end] == found.text
    assert replace(found, span=unit.span, text=unit.text, stems=unit.stems) == unit
