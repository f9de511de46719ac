"""Definitions of terms: which are looked for, and which go before the sentences that use the term."""

import pytest

from core.ports.retrieval import PassageCounts
from reasoning.strategies.extractive.quoting.asked import Asked, read_question
from reasoning.strategies.extractive.quoting.definitions import defines, find_definition, list_sought_terms
from reasoning.strategies.extractive.quoting.units import Unit, list_units
from testing.word_search import hit

USES = "The loan is repaid in full on the Maturity Date."
DATE = "“Maturity Date” means 3 May 2031."


def read(question: str, *texts: str) -> tuple[Asked, list[Unit]]:
    asked = read_question(question, PassageCounts())
    return asked, list_units(asked, [hit(str(at), "", text) for at, text in enumerate(texts)], 200)


@pytest.mark.parametrize(
    ("question", "texts", "first"),
    [
        ("When does the loan mature?", (USES, DATE), DATE),
        (
            "When must the loan be repaid?",
            (USES, "Fees are due.", DATE),
            USES,
        ),  # "Date" is of the kind that is asked for
        ("What is the maturity date?", (USES, DATE), DATE),
        ("What does “Maturity Date” mean?", (USES, '1.1 In this deed: "Maturity\nDate" has no meaning.'), "1.1"),
        ("What is the Maturity Date of the loan?", (USES + " It is 2 miles off.", DATE), DATE),
        ("Was ist der Stichtag?", ("Der Stichtag zählt.", "„Stichtag“ bezeichnet den 3. Mai."), "„Stichtag“"),
        (
            "What is the cap of the service charge?",
            ("A Service Cap counts.", "“Service Cap” means £9."),
            "“Service Cap”",
        ),
        (
            "How much rent is paid?",
            ("The Annual Rent is paid in May.", "“Annual Rent” means £48,500."),
            "“Annual Rent”",
        ),
        ("When does the loan mature?", (USES, "“Maturity Date” means a day agreed."), None),  # no value
        (
            "When does the loan mature?",
            ("The loan matures on 4 May 2030, the Maturity Date.", DATE),
            None,
        ),  # has the value
        ("When does the loan mature?", ("The loan matures on the maturity date.", DATE), None),  # another term
        ("Who repays the loan?", (USES, DATE), None),
        ("What is the rent of the second year?", ("The Rent of year two is £9.", "“Rent” means £5."), None),
    ],
)
def test_a_definition_goes_with_the_sentence_that_uses_its_term(
    question: str, texts: tuple[str, ...], first: str | None
) -> None:
    asked, question, units = _asked(question, *texts)
    found = find_definition(asked, question, units)
    assert (found is None) == (first is None)
    if found is not None and first is not None:
        place, to = found
        units.insert(to, units.pop(place))
        assert units[0].text.startswith(first)
        assert [unit.text for unit in units[:2] if "mean" in unit.text or "bezeichnet" in unit.text]


def _asked(question: str, *texts: str) -> tuple[Asked, str, list[Unit]]:
    asked, units = read(question, *texts)
    return asked, question, units


@pytest.mark.parametrize(
    ("question", "texts", "sought"),
    [
        ("When does the loan mature?", (USES,), ("Maturity Date",)),
        ("What is the closing date?", ("It is in May.",), ("closing date",)),
        ("When does the loan mature?", (USES, DATE), ()),  # it is read already
        ("When does the loan mature?", ("It matures on 4 May 2030.",), ()),
        ("Does the loan mature?", ("The term of the loan ends.",), ()),
    ],
)
def test_definitions_that_were_not_found_are_looked_for(
    question: str, texts: tuple[str, ...], sought: tuple[str, ...]
) -> None:
    assert list_sought_terms(*_asked(question, *texts)) == sought


def test_a_passage_defines_its_terms() -> None:
    passage = hit("a", "", f"{USES} {DATE}")
    assert defines(passage, "maturity date")
    assert not defines(passage, "Date")
    assert not defines(hit("a", "", USES), "Maturity Date")
