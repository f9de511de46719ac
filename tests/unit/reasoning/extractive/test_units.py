"""What `extractive` may quote of a passage."""

import time
from dataclasses import replace

import pytest

from core.ports.retrieval import Hit, PassageCounts
from reasoning.strategies.extractive.quoting.asked import read_question
from reasoning.strategies.extractive.quoting.units import Unit, is_question, list_units
from testing.word_search import hit

RATES = "The rates are these.\n\nName | Hourly rate\nTomas Okeke | 345\nBo Lind | 290\nAda Moe | 310\n"


def units_of(question: str, *hits: Hit, most: int = 200) -> list[Unit]:
    return list_units(read_question(question, PassageCounts()), hits, most)


def texts_of(question: str, text: str, *, title: str = "", heading: str = "") -> list[str]:
    found = hit("a", title, text)
    return [unit.text for unit in units_of(question, replace(found, chunk=replace(found.chunk, heading=heading)))]


def test_rows_are_units_and_know_their_columns() -> None:
    units = units_of("What is the hourly rate of Tomas Okeke?", hit("a", "", RATES))
    assert [unit.text for unit in units if unit.is_row] == ["Tomas Okeke | 345", "Bo Lind | 290", "Ada Moe | 310"]
    assert {unit.columns for unit in units if unit.is_row} == {"Name | Hourly rate"}


def test_rows_of_a_passage_within_a_table_have_the_columns_of_its_heading() -> None:
    text = "| Bo   | Ulm |\n| Li   | Rom |\n| Al   | Bun |\n\nThe rates are these.\n\nName | Rate\nBo | 5\nLi | 7"
    found = hit("a", "", text)
    within = replace(found, chunk=replace(found.chunk, heading="Staff › Name | City"))
    units = [unit for unit in units_of("Who is in Ulm?", within) if unit.is_row]
    assert [(unit.text[:6].strip("| "), unit.columns) for unit in units] == [
        *((name, "Name | City") for name in ("Bo", "Li", "Al")),
        *((name, "Name | Rate") for name in ("Bo | 5", "Li | 7")),
    ]


def test_rows_of_named_fields_are_units() -> None:
    text = "Country: Japan; Voltage: 100\nCountry: Peru; Voltage: 220\nMore text follows."
    assert texts_of("Which voltage has Peru?", text) == [*text.splitlines()]


def test_the_foot_of_a_letter_is_quoted_if_the_question_asks_for_it() -> None:
    foot = "VAT ID DE298417553 · Commercial register Kiel HRB 20417 · IBAN DE12 2105 0170 1002 3344 55"
    text = f"Pay within 14 days.\n\n{foot}"
    assert texts_of("When must the bakery in Kiel pay?", text) == ["Pay within 14 days."]
    assert foot in texts_of("What is the IBAN?", text)
    assert len(texts_of("When does he pay?", "The IBAN is new.\n\nThe managing director pays.")) == 2


def test_spans_are_places_in_the_passage() -> None:
    for unit in units_of("What is the rate?", hit("a", "", f"  One thing.\n\n{RATES} Two: 3; Four: 5\nSix.")):
        assert unit.hit.chunk.text[unit.span.start : unit.span.end] == unit.text


@pytest.mark.parametrize(
    "text",
    [
        "Who signed the side letter?",
        "誰が署名しましたか？",
        "Please tell me who signed the side letter.",
        "Bitte teilen Sie mit, wer den Brief unterschrieben hat.",
        "Who signed the side letter? \N{GRINNING FACE}",
        "Who signed the side letter?\u200b",
        "| Who signed the side letter? |",
        "“Who signed the side letter?”, asked Bob.",
        "Any idea who signed the side letter",
        "We want to know who signed the side letter.",
    ],
)
def test_a_question_is_none(text: str) -> None:
    assert is_question(text)
    assert texts_of("Who signed the side letter?", f"{text}\n\nIt was signed by Pieter van Dalen.") == [
        "It was signed by Pieter van Dalen."
    ]


@pytest.mark.parametrize(
    "text",
    [
        "It was signed.",
        "Please check if it is on.",
        "Bitte beachten Sie, wie es läuft.",
        "I know who signed.",
        "Signed? By Ada.",
    ],
)
def test_other_sentences_are_no_questions(text: str) -> None:
    assert not is_question(text)


def test_a_heading_is_none_unless_words_are_typed() -> None:
    text = "Notice period\n\nIt is thirty days."
    assert texts_of("What is the notice period?", text, heading="Lease › Notice period") == ["It is thirty days."]
    assert texts_of("notice period", text, heading="Lease › Notice period") == ["Notice period", "It is thirty days."]


def test_a_sentence_that_repeats_the_question_is_none() -> None:
    text = "The committee has members. The committee has 8 members."
    assert texts_of("How many members has the committee?", text) == ["The committee has 8 members."]
    assert len(texts_of("Has the committee members?", text)) == 2
    assert texts_of("Who signed the contract?", "The contract was signed by me.")  # the sender is in `part_of`


def test_of_many_units_those_with_the_words_stay() -> None:
    found = hit("a", "", "Nothing is here. " * 30 + "The mill stands in Orrin. " + "Nothing is here. " * 30)
    assert [unit.text for unit in units_of("Where is the mill?", found, most=1)] == ["The mill stands in Orrin."]


@pytest.mark.parametrize("piece", ["_", "|", " ", "; ", ": ;", "a|", "| ", "?", "please ", "1", "\n", "A. ", "k: v; "])
def test_hostile_text_is_read_in_linear_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    began = time.thread_time()
    units_of("What is the hourly rate of Tomas Okeke?", hit("a", "", text))
    is_question(text)
    assert time.thread_time() - began < 30


def test_a_section_with_its_name_is_a_heading() -> None:
    text = "§ 10 Anwendbares Recht\n\nEs gilt deutsches Recht.\n\nSection 4 is void."
    assert texts_of("Welches Recht gilt?", text) == ["Es gilt deutsches Recht.", "Section 4 is void."]


def test_the_caption_of_a_table_is_no_answer_and_a_sentence_about_it_is() -> None:
    question = "What are the rates of measles by state?"
    assert texts_of(question, "Figure 1.5: Rates of measles by state, 2010\n\nUtah | 7\n") == ["Utah | 7"]
    told = "Table 2 shows that rates of measles by state rose."
    assert texts_of(question, told) == [told]
    assert texts_of("measles rates", "Table 2. Rates of measles") == ["Table 2. Rates of measles"]


def test_the_caption_of_a_statement_is_no_answer_and_a_clause_in_capitals_is() -> None:
    caption = (
        "NORWICK CORPORATION AND SUBSIDIARIES\nSTATEMENTS OF INCOME\n(In millions, except per share data)\n(Unaudited)"
    )
    said = "Norwick earned little income."
    assert texts_of("What is the income of Norwick?", f"{caption}\n\n{said}") == [said]
    clause = "NORWICK IS NOT LIABLE (EXCEPT FOR ITS OWN INCOME TAX) FOR ANY LOSS."
    assert texts_of("Is Norwick liable for a loss?", clause) == [clause]


def test_a_line_of_fields_that_begins_with_a_sign_is_no_heading() -> None:
    row = "# Code:Airport: LEJ:Leipzig"
    assert texts_of("Which airport has the code LEJ?", f"{row}\n\n# Airports of Saxony\n") == [row]


def test_a_long_passage_is_read_in_part() -> None:
    text = "The fee of Ada is 12 euros. " * 2000
    units = units_of("What is the fee?", hit("a", "", text), most=10**6)
    assert units[-1].span.end <= 20_000 < len(text)


def test_a_label_is_one_with_what_stands_below() -> None:
    text = "Global ids are used.\n\n0-99:\nGlobally allocated, on every system.\n\nSolution (short): use setserial."
    found = texts_of("Which ids are globally allocated?", text)
    assert "0-99:\nGlobally allocated, on every system." in found
    assert "Solution (short): use setserial." in found


def test_what_announces_an_answer_is_none() -> None:
    text = (
        "Each of the bits of the exit status of the program has one of the following meanings:\n\nBit 3: DISK FAILING."
    )
    assert texts_of("What does bit 3 of the exit status mean?", text) == ["Bit 3: DISK FAILING."]


def test_the_head_of_a_mail_answers_questions_about_sending() -> None:
    text = (
        "From: Ada Moe <ada@example.org>\nTo: bob@example.org\nDate: 2024-04-01T10:00:00Z\n\nThe webinar is on 3 May."
    )
    assert texts_of("When is the webinar?", text) == ["The webinar is on 3 May."]
    assert texts_of("Who sent the mail about the webinar?", text)[0] == text.partition("\n\n")[0]


@pytest.mark.parametrize(
    "head",
    [
        "---------- Forwarded message ----------\nFrom: Ada Moe <ada@example.org>\nSubject: The webinar moves",
        "-----Original Message-----\nFrom: Ada Moe\nSent: Monday, 1 April 2024 10:00\nSubject: The webinar moves",
        "Von: Ada Moe <ada@example.org>\nGesendet: Montag, 1. April 2024 10:00\nBetreff: The webinar moves",
        "On 1 Apr 2024, at 10:00, Ada Moe <ada@example.org> wrote:",
        "Dear Bob,",
    ],
)
def test_the_head_of_a_mail_within_a_mail_is_no_answer(head: str) -> None:
    assert texts_of("Why does the webinar move?", f"{head}\n\nThe hall is wet.") == ["The hall is wet."]


def test_a_sentence_with_a_name_before_a_colon_is_no_head_of_a_mail() -> None:
    assert texts_of("Why does it move?", "From 3 May on: the hall is wet.") == ["From 3 May on: the hall is wet."]


LIST = (
    "Expenses increased primarily due to:\n\n• higher pay of the crews;\n• more flights to Oslo.\n\nThe rest is small."
)


def test_an_announcement_is_quoted_with_its_list_if_the_question_is_about_the_announcement() -> None:
    announced = LIST.partition("\n\nThe rest")[0]
    assert texts_of("Why did expenses increase?", LIST)[0] == announced
    assert announced not in texts_of("Who flies to Oslo with the crews?", LIST)


def test_a_sentence_goes_on_in_the_next_line() -> None:
    long = f"{'The long line of a report ' * 5}is of the year ended\nJanuary 30, 2022."
    text = f"{long} It is new.\n\nSee our\nAnnual Report."
    assert texts_of("What is due?", text) == [long, "It is new.", "See our\nAnnual Report."]


def test_a_reason_is_quoted_with_the_sentence_that_it_explains() -> None:
    text = "Income of Asia was 5. The decrease was due to lower volume. Income of Africa was 7."
    joined = "Income of Asia was 5. The decrease was due to lower volume."
    assert joined in texts_of("Why did income of Asia decrease?", text)
    assert joined not in texts_of("What is the income of Asia?", text)


def test_rows_of_names_above_a_table_are_no_units() -> None:
    text = "Cash follows.\n\n | July 1, 2023\n | Adjusted Cost | Fair Value | Current\nCash | 12 | 13 | 14\n"
    assert texts_of("What is the fair value of cash?", text) == ["Cash follows.", "Cash | 12 | 13 | 14"]


def test_the_officers_certificate_behind_a_report_and_shares_of_an_unnamed_row_are_no_answers() -> None:
    text = (
        "The registrant's other certifying officer and I have disclosed any change. We disclosed all changes in sales."
    )
    assert not texts_of("What changes in sales did Norwick disclose?", text)
    assert texts_of("What changes did the officers certify?", text)
    table = "Inventory provisions | 12 | 9\n% of sales | 4 % | 3 %\n"
    assert texts_of("How did sales of goods go?", table) == ["Inventory provisions | 12 | 9"]
    assert len(texts_of("Which percentage of sales were provisions?", table)) == 2
    assert texts_of("How much cocoa is in the bar?", "Weight | 9 | 8\nPercentage of cocoa | 71 | 55\n")[1:]


def test_a_certificate_is_quoted_if_the_question_asks_for_it() -> None:
    text = "I, Ada M. Lund, certify that the report of Norwick is complete. Norwick bought a mill."
    assert texts_of("Did Norwick report new mills?", text) == ["Norwick bought a mill."]
    assert len(texts_of("Who certified the report of Norwick?", text)) == 2


@pytest.mark.parametrize("foot", ["Lease of the mill | Page 2", "Seite 4 | Mühle"])
def test_the_foot_of_a_page_is_no_answer(foot: str) -> None:
    text = f"The mill is let to Ada Moe.\n\n{foot}"
    assert texts_of("Who has the lease of the mill?", text) == ["The mill is let to Ada Moe."]


def test_a_sentence_with_a_page_is_an_answer() -> None:
    assert texts_of("Where is the plan?", "The plan of the mill is on page 2.") == [
        "The plan of the mill is on page 2."
    ]


def test_the_numbered_heading_of_a_clause_is_no_answer_and_a_step_is() -> None:
    below = "The tenant may use two spaces in the yard, which are marked with the number of the flat."
    for heading in ("4. Parking", "4. Parking.", "4.1  Use of Yards, and Parking."):
        assert texts_of("Where may the tenant park?", f"{heading}\n{below}") == [below]
    assert len(texts_of("Where may the tenant park?", f"4. He may park there.\n{below}")) == 2
    assert len(texts_of("Where may the tenant park?", "1. North Yard.\n2. South Yard.")) == 2
    steps = "1. Open the gate\n2. Drive in\n3. Close the gate"
    assert len(texts_of("How do I park?", steps)) == 3


def test_anchors_are_not_quoted() -> None:
    text = 'The lid closes.\n\n<a id="size"></a>\n<a name=old>\nDefault: 5 litres.\n\n<a id=end></a>'
    assert texts_of("How large is the kettle?", text) == ["The lid closes.", "Default: 5 litres."]


def test_items_of_an_announced_list_may_have_several_lines() -> None:
    text = "Fixed are these faults of the kettle:\n\n- The lid was loose.\n  (See 5.)\n- It leaked.\n\nThanks."
    assert texts_of("Which faults of the kettle were fixed?", text)[0] == text.removesuffix("\n\nThanks.")


def test_feet_of_reports_bare_names_and_repeated_headers_are_not_quoted() -> None:
    text = (
        "Mills Inc.\n\nIt has 12 mills.\n\nMills Inc. 2024 Annual Report 9\n\nMill | Looms\nUlm | 5\nRom | 6\nBun | 7"
    )
    assert texts_of("How many mills has it?", text, title="Mills Inc.") == [
        "It has 12 mills.",
        *("Ulm | 5", "Rom | 6", "Bun | 7"),
    ]
    rows = "Sold, in millions | 2024 | 2023\nWool | 5.1 | 4.2\nSilk | 3.1 | 2.2\n"
    again = f"{rows}In millions | June 30, 2024 | June 30, 2023\nFelt | 7.1 | 8.2"
    assert [text[:4] for text in texts_of("How much felt was sold?", again)] == ["Wool", "Silk", "Felt"]


def test_a_numbered_heading_may_end_with_a_point() -> None:
    below = "Neither party is liable for lost profits, whatever the cause of the claim may be."
    text = f"12 Limitation of Liability.\n{below}\n\n13 Switch the pump off.\n{below.replace('lost', 'its')}"
    assert [found[:9] for found in texts_of("Who is liable?", text)] == ["Neither p", "13 Switch", "Neither p"]


def test_a_row_knows_the_line_above_its_table_and_countries_by_either_name() -> None:
    text = "Mills at year end\n\n | 2024 | 2023\nU.S. | 51 | 48\nChile | 9 | 8\nPeru | 3 | 2\n"
    first = units_of("How many mills were in the United States at year end?", hit("a", "", text))[0]
    assert (first.text, first.caption) == ("U.S. | 51 | 48", "Mills at year end")
    assert {"unit", "state"} <= first.stems
