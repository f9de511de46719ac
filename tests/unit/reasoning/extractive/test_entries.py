"""Entries of manuals and change logs that a question names."""

from dataclasses import replace

import pytest

from core.ports.retrieval import Hit, PassageCounts
from reasoning.strategies.extractive.quoting.asked import read_question
from reasoning.strategies.extractive.quoting.entries import (
    find_dated_entry,
    find_described,
    find_entry,
    find_implied_entry,
    find_implied_option,
    find_stated,
    has_entry,
    name_entry,
)
from reasoning.strategies.extractive.quoting.units import Unit, list_units
from testing.word_search import hit

MANUAL = (
    "The program packs folders. It can be called with -q and -w.\n\n"
    "-q --quiet\nWrite no messages. Errors are written.\n\n"
    "-w, --watch=SECONDS\n      Pack again when a file changes.\n\n"
    "--depth N  Go down N folders at most.\n"
)


def units_of(question: str, *hits: Hit) -> list[Unit]:
    return list_units(read_question(question, PassageCounts()), hits, 200)


@pytest.mark.parametrize(
    ("question", "entry"),
    [
        ("What does -q do?", "-q --quiet\nWrite no messages."),
        ("What is --watch for?", "-w, --watch=SECONDS\n      Pack again when a file changes."),
        ("What does --depth do?", "--depth N  Go down N folders at most."),
    ],
)
def test_an_option_is_described_by_its_entry(question: str, entry: str) -> None:
    found = find_entry(question, units_of(question, hit("m", "", MANUAL)))
    assert found is not None
    assert found[1].text == entry
    assert MANUAL[found[1].span.start : found[1].span.end] == entry


@pytest.mark.parametrize(
    "question", ["What does -x do?", "Do -q and -w exclude each other?", "What is a well-known port?"]
)
def test_other_questions_have_no_entry(question: str) -> None:
    assert find_entry(question, units_of(question, hit("m", "", MANUAL))) is None


def test_a_sentence_may_lead_to_an_option() -> None:
    assert find_implied_option("This option implies --watch, but not -q.") == "--watch"
    assert find_implied_option("Files are watched.") == ""
    manual = hit("m", "", MANUAL)
    assert has_entry("--watch", manual)
    assert not has_entry("--loud", manual)
    leading = hit("n", "", "--sync\nThe option implies --watch, so changes of files are packed.")
    units = units_of("How are changes of files packed?", leading, manual)
    (first,) = [unit for unit in units if "implies" in unit.text]
    (entry,) = [unit for unit in units if "Pack again" in unit.text]
    assert find_implied_entry([first, entry]) == (1, entry)
    assert find_implied_entry([entry, first]) is None
    assert find_implied_entry([]) is None


def test_a_date_may_stand_in_a_heading() -> None:
    log = hit("kettle-CHANGES.md", "", "- The lid closes. It is tight.")
    log = replace(log, chunk=replace(log.chunk, heading="3.1.0 (2024-02-09) › Fixes"))
    question = "When was kettle 3.1.0 released?"
    asked = read_question(question, PassageCounts())
    found = find_dated_entry(asked, units_of(question, log))
    assert found is not None
    assert found[1] == "3.1.0 (2024-02-09)"
    for other in ("When was kettle 3.2.0 released?", "Who released kettle 3.1.0?", "When did 3.1.0 break the spout?"):
        assert find_dated_entry(read_question(other, PassageCounts()), units_of(other, log)) is None


@pytest.mark.parametrize(
    ("heading", "is_date"),
    [
        ("3.1.0", False),
        ("3.1.0 (unreleased, planned 2030-01-01)", False),
        ("3.1.0 fixes the fault of 2019-01-01", False),
        ("3.1.0 (2024-02-09, 2024-03-01)", False),
        ("[3.1.0] - 2024-02-09", True),
        ("Kettle 3.1.0, released on 9 February 2024", True),
        ("3.1.0 (February 2024)", True),
    ],
)
def test_only_a_day_or_a_month_of_a_year_beside_the_name_is_its_date(heading: str, is_date: bool) -> None:
    log = hit("kettle-CHANGES.md", "", "- The lid closes. It is tight.")
    log = replace(log, chunk=replace(log.chunk, heading=heading))
    question = "When was kettle 3.1.0 released?"
    found = find_dated_entry(read_question(question, PassageCounts()), units_of(question, log))
    assert (found is not None) == is_date


@pytest.mark.parametrize(
    ("question", "is_dated"),
    [
        ("When was version 3.1.0 of kettle released?", True),
        ("When was the release 3.1.0 published?", True),
        ("Wann erschien die Fassung 3.1.0?", True),
        ("When was version 3.2.0 of kettle released?", False),
        ("When did version 3.1.0 break the spout?", False),
    ],
)
def test_a_question_may_call_a_number_a_version(question: str, is_dated: bool) -> None:
    log = hit("kettle-CHANGES.md", "", "- The lid closes. It is tight.")
    log = replace(log, chunk=replace(log.chunk, heading="3.1.0 (2024-02-09)"))
    found = find_dated_entry(read_question(question, PassageCounts()), units_of(question, log))
    assert (found is not None) == is_dated


PUMP = (
    "pressure bar\n      This directive sets the pressure at which the pump stops. If omitted, the\n"
    "      default is 4.5.\n\n"
    "  sensor-bus number\n      The bus of the sensor. It is read often.\n\n"
    "  restart-delay s\n      A short delay wears the contactor. The default log has\n      each start.\n\n"
    "      It defaults to 90 seconds.\n"
)
FLUSH = "- `poolSize`: Connections that are kept. Default: 80.\n  At most 400.\n- `poolWait`: Seconds to wait.\n"
LIST = "• tol: pivoting tolerance. A larger value is\nslower. Default value: 0.001.\n• scale: of rows. Default: 2.\n"
GERMAN = (
    "Haltezeit=\n    Wie lange eine Datei bleibt. Vorgabe: 14 Tage.\n\nSpiegel=\n    Rechner. Diese Option ist neu.\n"
)


def stated(question: str, text: str, heading: str = "") -> str:
    """Returns what `find_stated` finds in a passage; "" for nothing."""
    passage = hit("pumpd.conf.txt", "", text)
    passage = replace(passage, chunk=replace(passage.chunk, heading=heading))
    units = units_of(question, passage)
    found = find_stated(question, read_question(question, PassageCounts()), units)
    assert found is None or text[found[1].span.start : found[1].span.end] == found[1].text
    return " ".join(found[1].text.split()) if found else ""


@pytest.mark.parametrize(
    ("question", "text", "sentence"),
    [
        ("What is the default pressure of the pump?", PUMP, "If omitted, the default is 4.5."),
        ("What is the default restart delay?", PUMP, "It defaults to 90 seconds."),
        ("What is the default of sensor-bus in pumpd.conf?", PUMP, ""),
        ("What is the default volume?", PUMP, ""),
        ("What is the pressure?", PUMP, ""),
        ("What is the default pressure of the boiler?", PUMP, ""),
        ("What is the default pool size?", FLUSH, "Default: 80. At most 400."),
        ("What is the default of poolWait?", FLUSH, ""),
        ("What is the default tolerance tol?", LIST, "Default value: 0.001."),
        ("Was ist die Vorgabe für Haltezeit?", GERMAN, "Vorgabe: 14 Tage."),
        ("Was ist die Vorgabe für Spiegel?", GERMAN, ""),
    ],
)
def test_the_default_is_that_of_the_entry_that_is_named(question: str, text: str, sentence: str) -> None:
    assert stated(question, text) == sentence


@pytest.mark.parametrize(
    ("question", "text", "heading", "sentence"),
    [
        (
            "What is the default body limit?",
            "+ Default: `1048576`\n\nBytes of a body.",
            "Options › bodyLimit",
            "+ Default: `1048576`",
        ),
        ("What is the default header limit?", "+ Default: `1048576`\n\nBytes of a body.", "Options › bodyLimit", ""),
        ("What is the default format?", "The default body reader sends an error.", "Options › `format`", ""),
        ("Since which version is there a Table.freeze?", "Freezes.\n\nSince:\n1.6\n", "Table › freeze", "Since: 1.6"),
        (
            "In which version was Table.freeze added?",
            "Freezes. It has been slow since 2019 runs.",
            "Methods › thaw",
            "",
        ),
        (
            "Quelle est la valeur de largeur par défaut ?",
            "La valeur par défaut est 80.",
            "largeur",
            "La valeur par défaut est 80.",
        ),
    ],
)
def test_a_heading_may_name_the_entry(question: str, text: str, heading: str, sentence: str) -> None:
    assert stated(question, text, heading) == sentence


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What does sensor-bus do?", "The bus of the sensor."),
        ("What is restart-delay for?", "restart-delay s A short delay wears the contactor."),
        ("What does the boiler do?", ""),
        ("Who sets sensor-bus?", ""),
    ],
)
def test_what_a_term_means_is_told_below_it(question: str, sentence: str) -> None:
    asked = read_question(question, PassageCounts())
    found = find_described(question, asked, units_of(question, hit("m", "", PUMP)))
    assert (" ".join(found[1].text.split()) if found else "") == sentence


@pytest.mark.parametrize(
    ("question", "begins", "term"),
    [
        ("What stops the pump?", "This directive", "pressure bar"),
        ("What is the default of all?", "It defaults", "restart-delay s"),
        ("How long does it wait?", "It defaults", ""),
        ("Which bus?", "The bus", ""),
    ],
)
def test_a_sentence_that_says_this_option_has_its_term(question: str, begins: str, term: str) -> None:
    (unit,) = (unit for unit in units_of(question, hit("m", "", PUMP)) if unit.text.startswith(begins))
    assert name_entry(question, unit) == term


def test_a_paragraph_may_begin_with_the_name() -> None:
    text = "MaxUse= sets the space.\n\nIt is by default 10%.\n\nMaxFile= sets that of a file, by default 1%.\n"
    assert stated("What is the default of MaxUse?", text) == "It is by default 10%."
    assert stated("What is the default of MaxFile?", text) == "MaxFile= sets that of a file, by default 1%."


@pytest.mark.parametrize(
    "sentence",
    [
        "Without it, a default of 4.5 is taken.",
        "Has a default of warn.",
        "It is read with the default of `4`.",
        "The default of the pressure is low.",
        "The default pressure of the pump is 4.",
        "There is a default value of low.",
        "The default in small pumps is 4.",
        "It is 4 by default.",
    ],
)
def test_a_default_is_a_value(sentence: str) -> None:
    assert stated("What is the default pressure?", sentence, "Pressure") == sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "In the event of default of the Hirer, the pressure is 9 bar.",
        "In the event of a default (clause 7) the pressure is 9 bar.",
        "On default in payment the pressure is 9 bar.",
        "A default of the Hirer ends the hire.",
        "A default by the Hirer of a duty ends the hire.",
        "The hire may be ended by default of the Hirer.",
    ],
)
def test_a_debtor_in_default_states_no_value(sentence: str) -> None:
    assert stated("What is the default pressure?", sentence, "Pressure") == ""


@pytest.mark.parametrize(
    ("condition", "is_stated"),
    [
        ("If `valve` is 0,", False),
        ("Its unit is bar. If `valve` is 0,", False),
        ("When the valve is shut,", False),
        ("Otherwise,", False),
        ("If `valve` is not set,", False),
        ("If `pressure` is not set,", True),
        ("If omitted,", True),
        ("Unless another is given,", True),
        ("Unless `valve` is set,", True),
        ("If `valve` is 0, nothing is pumped. In all pumps,", True),
        ("In bar,", True),
    ],
)
def test_a_default_on_another_condition_is_not_stated(condition: str, is_stated: bool) -> None:
    text = f"The pressure of the pump. {condition} the default is 4."
    found = stated("What is the default pressure?", text, "`pressure`")
    assert found.endswith("the default is 4.") == is_stated


def test_a_conditional_default_is_stated_for_its_condition() -> None:
    text = "The pressure of the pump. If the valve is shut, the default is 4. The default is 7 for others."
    assert stated("What is the default pressure?", text, "`pressure`") == "The default is 7 for others."
    question = "What is the default pressure if the valve is shut?"
    assert stated(question, text, "`pressure`") == "If the valve is shut, the default is 4."
