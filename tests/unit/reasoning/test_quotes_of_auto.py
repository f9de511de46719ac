"""The sentences that a small model is shown for a judgement."""

from collections.abc import Sequence

from core.ports.retrieval import Hit, PassageCounts
from reasoning.strategies.auto.quotes import MOST_QUOTES, cut_to_units, quote_units_of
from reasoning.strategies.extractive.quoting.asked import read_question
from reasoning.strategies.extractive.quoting.units import Unit, list_units
from testing.word_search import hit

MILL = hit("mill", "Ravelin Mills", "It had three looms. It stood in Porto. Its roof was red.")
REPORT = hit("report", "Halden Group", "Name | 2023 | 2022\nLooms | 345 | 401\nBelts | 7 | 3")


def units_of(question: str, *hits: Hit) -> Sequence[Unit]:
    return list_units(read_question(question, PassageCounts(passages=0, having={})), hits, 200)


def test_sentences_of_one_passage_are_together_in_their_order_and_the_best_passage_is_first() -> None:
    looms, _, roof, row, _ = units_of("What is known of it?", MILL, REPORT)
    shown = cut_to_units("Was the roof red?", [roof, row, looms])
    assert [found.chunk.id for found in shown] == [MILL.chunk.id, REPORT.chunk.id]
    assert shown[0].chunk.text == "It had three looms.\nIts roof was red."


def test_of_a_row_the_cell_is_kept_that_is_asked_for() -> None:
    (row,) = [unit for unit in units_of("Did it sell belts in 2023?", REPORT) if "Belts" in unit.text]
    (judged,) = cut_to_units("Did it sell belts in 2023?", [row])
    assert judged.chunk.text == "Belts, 2023: 7"


def test_the_first_units_are_cited() -> None:
    units = units_of("Did it have three looms?", MILL, REPORT)
    quotes = quote_units_of(units)
    assert [quote.text for quote in quotes] == [unit.text for unit in units[:MOST_QUOTES]]
