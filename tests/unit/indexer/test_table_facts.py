"""Facts from tables: whose they are, what is no fact, tables that go on in a later passage, and hostile tables."""

import asyncio

import pytest

from core.corpora import CorpusSettings, Fine
from core.graph import Extraction, Triple
from core.ports.indexing import Block, DraftChunk, LoadedDocument
from core.trace import Trace
from indexer.extractors import tables
from indexer.extractors.tables import rows, surroundings
from indexer.selection.extractors import has_fine_vectors, make_extractor
from tests.memory import find_peak

Fact = tuple[str, str, str]

_PEOPLE = "| Name | City | Rate |\n|---|---|---|\n| Bo Larsen | Aarhus | 290 EUR |\n| Ada Lund | Basel | 310 EUR |\n"
_REPORT = (
    "(In millions)\n | Three Months Ended\n | July 1, 2023 | June 25, 2022\n"
    "Net sales:\nProducts | $60,584 | $63,355\nServices | 21,213 | 19,604\nTotal net sales | $81,797 | $82,959\n"
)


def read(*texts: str, title: str = "", block: str | None = None, extractor: str = "tables") -> list[tuple[Triple, ...]]:
    """Returns the facts of passages that follow one another in a block, which is all of them unless it is given."""
    whole = "".join(texts) if block is None else block
    document = LoadedDocument(key="k", title=title, blocks=(Block(text=whole),))
    chunks = [DraftChunk(text=text, start=whole.find(text), block=0) for text in texts]
    found = asyncio.run(make_extractor(extractor).extract(document, chunks, range(len(chunks)), Trace()))
    return [extraction.triples for extraction in found]


def facts(text: str, title: str = "") -> set[Fact]:
    [found] = read(text, title=title)
    return {(fact.subject, fact.predicate, fact.object) for fact in found}


# --- whose fact it is ------------------------------------------------------------------------------------------------


def test_a_row_is_about_its_label_if_that_is_a_name() -> None:
    bo, ada = (("City", "Aarhus"), ("Rate", "290 EUR")), (("City", "Basel"), ("Rate", "310 EUR"))
    people = [("Bo Larsen", *fact) for fact in bo] + [("Ada Lund", *fact) for fact in ada]
    assert facts(_PEOPLE, "Rates") == set(people)


def test_a_row_of_figures_is_about_the_document() -> None:
    found = facts(_REPORT, "Apple Inc. (2023 Q3 AAPL)")
    relation = "Net sales, Services, Three Months Ended, July 1, 2023 (in millions)"
    assert ("Apple Inc.", relation, "21,213") in found
    assert {subject for subject, _, _ in found} == {"Apple Inc."}


def test_a_sum_of_everything_is_not_the_sum_of_a_group() -> None:
    text = " | 2023 | 2022\nNon-current assets:\nProperty | 4,320 | 4,210\nTotal | 4,320 | 4,210\n"
    text += "Total assets | 9,117 | 8,002\n"
    found = facts(text, "Orell Press")
    assert ("Orell Press", "Total assets, 2023", "9,117") in found
    assert ("Orell Press", "Non-current assets, Total, 2023", "4,320") in found


def test_a_measured_thing_without_a_title_is_no_fact() -> None:
    assert facts(_REPORT, "Page 7") == set()


def test_rows_that_name_their_cells_need_no_header() -> None:
    found = facts("Country: Ghana; Plugs: C, L; Volts: 220\nCountry: Chad; Plugs: C, D; Volts: 230\n")
    assert {("Ghana", "Volts", "220"), ("Chad", "Plugs", "C, D")} <= found


def test_the_name_behind_a_number_is_what_a_row_is_about() -> None:
    text = "Code: 23; Name: Clarke Palestine; Radius: 6378300\nCode: 24; Name: Helmert Basel; Radius: 6378249\n"
    assert ("Clarke Palestine", "Radius", "6378300") in facts(text, "ellipsoids")


def test_a_word_is_a_name_where_most_labels_are() -> None:
    text = "".join(f"Country: {name}; Volts: {volts}; Plugs: C\n" for name, volts in [("Ghana", 220), ("Chad", 230)])
    assert ("Polish", "Volts", "110") in facts(text + "Country: Polish; Volts: 110; Plugs: A\n", "power")


def test_a_single_column_of_values_has_no_name_in_the_relation() -> None:
    text = "| Parameter | Value |\n|---|---|\n| maximum pressure | 8.5 bar |\n| minimum pressure | 1.5 bar |\n"
    values = (("maximum pressure", "8.5 bar"), ("minimum pressure", "1.5 bar"))
    assert facts(text, "Pump P7") == {("Pump P7", *value) for value in values}


@pytest.mark.parametrize("unit", ["(In millions)", "($ in millions)", "(In millions, except per-share amounts)"])
def test_the_unit_of_a_table_is_part_of_the_relation(unit: str) -> None:
    text = f"{unit}\n | 2023 | 2022\nRevenue | 2,294 | 1,945\nMargin | 12.7 % | 32.8 %\nEarnings per share | 2.48 | 1\n"
    values = ("Revenue, 2023 (in millions)", "2,294"), ("Margin, 2023", "12.7 %"), ("Earnings per share, 2023", "2.48")
    assert {("Orell Press", *value) for value in values} <= facts(text, "Orell Press")


# --- what is no fact -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "1,204 | 3,310 | 12.4\n 7,118 | 1,204 | 3,310\n 6,200 | 1,100 | 2,900\n",
        "Bo Larsen | Aarhus\nAda Lund | Basel\n",
        "Orell Press | Page\nPart One | 12\nPart Two | 148\nPart Three | 210\n",
        "Dear Bo; Note: the press is closed today.\nAda Lund signs it.\n",
        "By: Ada Lund; Title: Director\n",
        "Ada Lund founded Orell Press. Rolf Ebert sold it.",
        "",
    ],
)
def test_a_text_without_a_table_that_names_its_columns_has_no_facts(text: str) -> None:
    assert facts(text, "Orell Press") == set()


@pytest.mark.parametrize("cell", ["", "—", "n/a", "yes", "2", "(7)", "in stock", "x" * 61, "Of the press " * 4])
def test_a_cell_that_names_nothing_is_no_fact(cell: str) -> None:
    text = f"| Name | Note |\n|---|---|\n| Bo Larsen | {cell} |\n| Ada Lund | Tern Prize |\n"
    assert ("Bo Larsen", "Note", cell.strip()) not in facts(text, "Rates")


@pytest.mark.parametrize(
    "hostile",
    ["=SUM(A1:A9)", "@SUM(1+9)", "Ul\x07m \x1b[31m", "Ulm\u202e", "<script>alert(1)</script>", "</td>Ulm", "<!--Ulm"],
)
def test_formulas_markup_and_control_characters_are_no_ends(hostile: str) -> None:
    text = f"| Name | City | Sales |\n|---|---|---|\n| Bo Larsen | {hostile} | 1,234 |\n| {hostile} | Ulm | 2,345 |\n"
    assert facts(text, title="Orlo Works") == {("Bo Larsen", "Sales", "1,234")}


def test_a_label_that_several_rows_have_says_nothing_of_them() -> None:
    text = "| Name | City |\n|---|---|\n| Bo Larsen | Aarhus |\n| Bo Larsen | Basel |\n| Ada Lund | Ulm |\n"
    assert facts(text, "Rates") == {("Ada Lund", "City", "Ulm")}


def test_a_label_of_records_is_looked_for_in_the_whole_document() -> None:
    first, second = "Kind: German Courts; Level: Federal\n", "Kind: German Courts; Level: Regional\n"
    more = "Kind: Swiss Courts; Level: Kantonal\n"
    found = (Triple(subject="Swiss Courts", predicate="Level", object="Kantonal"),)
    assert read(first, second, more) == [(), (), found]


def test_a_header_that_is_repeated_is_no_row() -> None:
    found = facts(f"{_PEOPLE}| Name | City | Rate |\n| Rolf Ebert | Ulm | 270 EUR |\n", "Rates")
    assert ("Rolf Ebert", "City", "Ulm") in found
    assert not any("City" in (subject, value) for subject, _, value in found)


def test_a_row_with_another_number_of_cells_has_no_known_columns() -> None:
    assert not any(fact[0] == "Rolf Ebert" for fact in facts(f"{_PEOPLE}| Rolf Ebert | Ulm |\n", "Rates"))


# --- tables that go on in a later passage ----------------------------------------------------------------------------


def test_a_passage_within_a_table_has_the_names_of_its_columns() -> None:
    lines = _REPORT.splitlines(keepends=True)
    _, later = read("".join(lines[:5]), "".join(lines[5:]), title="Apple Inc.")
    relation = "Services, Three Months Ended, July 1, 2023 (in millions)"
    assert Triple(subject="Apple Inc.", predicate=relation, object="21,213") in later


def test_a_passage_that_begins_with_a_table_of_its_own_is_not_taken_for_the_rest_of_another() -> None:
    _, later = read(f"{_PEOPLE}\nThe press has two houses, which are these.\n\n", _PEOPLE.replace("Bo", "Al"))
    assert Triple(subject="Al Larsen", predicate="City", object="Aarhus") in later


def test_what_stands_above_a_table_belongs_to_the_input() -> None:
    """A staged extraction would be taken although the header has changed."""
    body = "| Rolf Ebert | Ulm | 270 EUR |\n| Ines Corvo | Bern | 260 EUR |\n"
    chunk = DraftChunk(text=body, start=len(_PEOPLE), block=0)
    inputs = []
    for above in (_PEOPLE, _PEOPLE.replace("City", "Home")):
        document = LoadedDocument(key="k", title="Rates", blocks=(Block(text=above + body),))
        inputs.append(make_extractor("tables").input_of(document, chunk))
    assert inputs[0] != inputs[1]


# --- together with other extractors ----------------------------------------------------------------------------------


def test_it_joins_facts_of_sentences() -> None:
    text = f"{_PEOPLE}\nAda Lund founded Orell Press in the year of the great fire."
    [found] = read(text, extractor="pattern+tables")
    assert Triple(subject="Ada Lund", predicate="Rate", object="310 EUR") in found


def test_its_facts_have_vectors_only_if_they_are_wanted() -> None:
    settings = CorpusSettings(
        chunker="sentences", extractor="pattern+tables", embedding_model="m", dimension=384, fine=Fine.AUTO
    )
    assert not has_fine_vectors(settings)


# --- hostile tables --------------------------------------------------------------------------------------------------

_WIDE = "|".join(f" Column {n} " for n in range(20_000))


@pytest.mark.parametrize(
    "text",
    [
        f"|{_WIDE}|\n|{'---|' * 20_000}\n|{' Bo Larsen |' * 20_000}\n",
        "; ".join(f"Column {n}: Basel {n}" for n in range(20_000)),
        f"| Name | City |\n|---|---|\n| Bo Larsen | {'Basel' * 250_000} |\n",
        "| Name | City |\n|---|---|\n" * 20_000,
        "| Bo Larsen " * 20_000,
        "Name: " * 100_000,
        "Bo Larsen | Basel\n" * 20_000,
        "+--+--+\n| a | b |\n" * 30_000,
    ],
    ids=["columns", "fields", "cell", "headers", "bars", "colons", "rows", "drawn"],
)
def test_a_hostile_table_has_few_facts_in_bounded_memory(text: str) -> None:
    """The whole table is the block, as a loader gives it, and its last part is the passage."""
    passage = text[-20_000:]
    document = LoadedDocument(key="k", title="Orell Press", blocks=(Block(text=text),))
    chunk = DraftChunk(text=passage, start=len(text) - len(passage), block=0)
    extractor = make_extractor("tables")

    def extract() -> Extraction:
        [found] = asyncio.run(extractor.extract(document, [chunk], [0], Trace()))
        return found

    assert len(extract().triples) <= rows._MOST_FACTS
    bound = 20 * len(text) + 50_000_000
    assert find_peak(extract, bound) < bound


def test_a_wide_table_gives_some_facts_of_each_row() -> None:
    names = [f"Column {letter}" for letter in "ABCDEFGHIJKLMNOP"]
    text = f"| Name | {' | '.join(names)} |\n{'|---' * 17}|\n"
    text += f"| Bo Larsen | {' | '.join(f'Basel {n}00' for n in range(16))} |\n"
    text += f"| Ada Lund | {' | '.join(f'Ulm {n}00' for n in range(16))} |\n"
    found = [fact for fact in facts(text, "Orell Press") if fact[0] == "Bo Larsen"]
    assert len(found) == rows._MOST_OF_ROW


def test_a_long_block_is_not_read_for_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    body = "| Rolf Ebert | Ulm | 270 EUR |\n| Ines Corvo | Bern | 260 EUR |\n"
    assert read(_PEOPLE, body, title="Rates")[1]
    monkeypatch.setattr(surroundings, "_LONGEST_BLOCK", 100)
    assert not read(_PEOPLE, body, title="Rates")[1]


def test_a_document_with_too_many_labels_has_no_facts_of_records(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Country: Ghana; Volts: 220\nCountry: Chad; Volts: 230\nCountry: Cuba; Volts: 110\n"
    assert facts(text, "power")
    monkeypatch.setattr(surroundings, "_MOST_LABELS", 2)
    assert not facts(text, "power")


def test_a_long_passage_is_read_in_part() -> None:
    text = (
        f"Country: Ghana; Volts: 220\nCountry: Chad; Volts: 230\n{'It is dark. ' * 3_000}\nCountry: Cuba; Volts: 1100\n"
    )
    assert len(text) > tables._MOST_TEXT
    found = facts(text, "power")
    assert ("Ghana", "Volts", "220") in found
    assert not any(fact[0] == "Cuba" for fact in found)
