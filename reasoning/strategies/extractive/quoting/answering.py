"""What an answer that quotes is worth: whether the units answer, which of them are quoted, and the note on them."""

from collections.abc import Sequence
from dataclasses import replace

from core.ports.reasoning import Citation
from reasoning.strategies.extractive.over_periods.found import Series
from reasoning.strategies.extractive.over_periods.writing import write_series
from reasoning.strategies.extractive.quoting.continuing import continue_quote
from reasoning.strategies.extractive.quoting.entries import find_dated_entry
from reasoning.strategies.extractive.quoting.evidence import FEATURES
from reasoning.strategies.extractive.quoting.reading import Reading
from reasoning.strategies.extractive.quoting.units import Unit
from reasoning.strategies.extractive.quoting.writing import Written, choose, cite, write, write_nearest, write_unit

LEAST = 0.3
"""Declines below this probability that the hits answer, unless an option says otherwise."""
_SURE = 0.7
"""If a quote is less probably right, the note says so, and a request that wants only sure answers gets an abstention.

On kinds of material that the weights were not fitted to, half of the answers below are right, and three in four above.
"""
_IN_UNIT, _IN_CONTEXT = FEATURES.index("in_unit"), FEATURES.index("in_context")
_SAYS_ALL = 0.98
"""The share of the words' weight that a row must have, together with its table and document, to answer alone."""
_SHOWN_WORDS = 5
_NO_CONTENT = frozenset(
    {
        "hi",
        "hello",
        "hey",
        "please",
        "pls",
        "thanks",
        "thx",
        "boss",
        "mr",
        "mrs",
        "ms",
        "dr",
        "happen",
        "happens",
        "hallo",
        "bitte",
    }
    | {"danke", "herr", "frau", "bonjour", "merci", "monsieur", "madame", "passiert"}
)
"""Words of questions that no quote needs: that they lack them tells nobody anything."""
NOTHING = "No passage was found that answers this."
_DECLINES = "No sentence here surely answers this. Nearest:"
_REST = " Sentences that may answer the rest of the question are quoted."
_UNSURE = (
    "{} It is unsure: the estimate that one of the quotes answers the question is {} %{}. Read the passages around "
    "them, ask in their words, or {}."
)


def is_answered(reading: Reading, min_probability: float, *, sure: bool) -> bool:
    """Returns whether the units answer, as probably as `min_probability` says, and surely if that is wanted."""
    answers = bool(reading.units) and (reading.answerable >= min_probability or reading.is_found)
    return answers and (not sure or reading.right >= _SURE)


def decline(reading: Reading) -> tuple[str, tuple[Citation, ...]]:
    """Returns the text of an answer that declines, with the nearest units, and their citations."""
    text, citations = cite(write_nearest(reading.units), _DECLINES)
    return (text, citations) if citations else (NOTHING, ())


def quote_units(question: str, reading: Reading, most: int) -> tuple[str, tuple[Citation, ...]]:
    """Returns the best units as the text of an answer, with a citation for each."""
    return cite(write(question, choose_quotes(question, reading, most)))


def quote_heading(reading: Reading) -> tuple[str, tuple[Citation, ...]] | None:
    """Returns the text of an answer whose date stands in the heading of a passage, with a sentence of this passage that
    is cited; None if no heading has it.
    """
    found = find_dated_entry(reading.asked, reading.units)
    return None if found is None else cite([Written(unit=found[0], text=found[0].text, label=f"{found[1]}: ")])


def choose_quotes(question: str, reading: Reading, most: int) -> list[Unit]:
    """Returns the best units, each with the sentence that continues it."""

    def extend(unit: Unit, is_first: bool) -> Unit:
        return continue_quote(reading.asked, question, unit, is_first=is_first)

    return choose(_keep_cells(question, reading), most, extend)


def write_values(
    question: str, series: Series, reading: Reading | None, most: int
) -> tuple[str, tuple[Citation, ...], str]:
    """Returns the text of an answer with the values that code found, its citations, and the note on them.

    If the question asks more than a value of one report, sentences of the `reading` are quoted behind the value; None
    if nothing is read that answers.
    """
    text, citations = write_series(question, series)
    units = reading.units if reading is not None and series.asks_more else ()
    sentences = choose([unit for unit in units if not unit.is_row], most)
    if not sentences:
        return text, citations, series.note
    text, citations = cite(write(question, sentences), text, citations)
    return text, citations, replace(series, is_cut=False).note + _REST


def _keep_cells(question: str, reading: Reading) -> Sequence[Unit]:
    """Returns the units. If the first one is written as a cell, and has all that is asked, returns only the units that
    have as much.
    """
    units, own = reading.units, reading.features[:, _IN_UNIT]
    if write_unit(question, units[0]) == units[0].text:
        return units
    says_all = own + reading.features[:, _IN_CONTEXT] >= _SAYS_ALL
    if not says_all[0]:
        return units
    return [unit for unit, keeps in zip(units, says_all & (own >= own[0]), strict=True) if keeps]


def describe_quotes(reading: Reading, label: str, remedy: str) -> str:
    """Returns the note on quotes: the label alone, or, if they may be wrong, the probability that one of them is right,
    what they lack, and the remedy.
    """
    if reading.right >= _SURE:
        return label
    lacking = [word for word in reading.lacking if word.casefold() not in _NO_CONTENT]
    percent = max(10, 10 * round(10 * reading.right))
    shown = ", ".join(f"“{word}”" for word in lacking[:_SHOWN_WORDS]) + (", …" if len(lacking) > _SHOWN_WORDS else "")
    return _UNSURE.format(label, percent, f"; they lack {shown}" if lacking else "", remedy)
