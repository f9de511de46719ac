"""Terms that a document defines, and names that stand side by side in one run of capitals."""

import pytest

from core.text.name_evidence import gather_evidence
from core.text.no_names.definitions import find_definitions
from core.text.no_names.document_names import find_document_names

PROSE = (
    "the figures of the year were taken from the books and they show that the work of the plant was done in time as it "
    "was said by all who had seen it before and the cost of it was borne by the owners of the land and of the mill "
) * 16 + "."
"""A long text without names, which tells articles."""
CONTRACT = (
    'This agreement is made by Eskom Ltd ("Eskom") and the person below (the "Data Recipient"). "Retirement" means the '
    'end of the work. **"Order Form"** means a form, and "Seller" means who sells.\n\n' + PROSE + "\n\n"
)


def names(text: str) -> list[str]:
    return [span.form for span in find_document_names(text, gather_evidence([text]))]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ('the seller (the "Vendor") and "Goods" means all goods.', {"vendor", "good"}),
        ("a person (hereinafter referred to as the “Data Recipient”) and (“Mentor”)", {"data recipient", "mentor"}),
        ('**"Order Form"** means a form; (each, a "Sub-Order").', {"order form", "sub-order"}),
        ('Best Buy Co., Inc. ("Best Buy"), in the US (the "Company") and "Plan" means it.', {"company", "plan"}),
        ('the Securities Exchange Act of 1934 (the "Exchange Act"); (the "Seller").', {"seller"}),
        ('Quantum Labs, a company (the "Quantum Labs") and a person (the "Client").', {"client"}),
        ('a Non-Disclosure Agreement (the "Agreement"), (the "Work").', {"agreement", "work"}),
        ('It has the songs ("Yesterday") and ("Something").', set()),
        ('Only one (the "Vendor").', set()),
        ("No quotes at all.", set()),
    ],
)
def test_the_terms_of_a_text(text: str, terms: set[str]) -> None:
    assert find_definitions([text]) == terms


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Mentioned are Retirement, Order Forms and Data Recipients of Ulm.", "Ulm"),
        ("It was sent to Eskom Data Recipient and to Ulm.", "Eskom|Ulm"),
        ("It is the Seller's RSUs, by such Order Form as Ulm has.", "RSUs|Ulm"),
    ],
)
def test_defined_terms_are_no_names(text: str, found: str) -> None:
    kept = names(CONTRACT + text)
    assert kept[:2] == ["Eskom Ltd", "Eskom"]
    assert kept[2:] == found.split("|")


def test_a_party_is_a_name_although_it_is_defined() -> None:
    """Questions about contracts name it."""
    text = 'A firm (the "Receiving Party") and a firm (the "Disclosing Party").\n\n' + PROSE
    assert "Receiving Party" in names(text + "\n\nIt is with the Receiving Party.")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The TLS of it is old. They have TLS for MQTT.", "TLS|TLS|MQTT"),
        ("They have the Institute for Advanced Study.", "Institute for Advanced Study"),
        ("They read the IEEE Transactions on Information Theory.", "IEEE Transactions on Information Theory"),
        ("In 1969 Kazan made it. In February 2015 England came. They saw the 1969 World Cup.",
         "Kazan|England|World Cup"),
        ("They said it under Article X. Contoso came.", "Contoso"),
        ("In Sun Jian's time it was so.", "Sun Jian"),
    ],
)  # fmt: skip
def test_names_side_by_side_are_apart(text: str, found: str) -> None:
    assert names(text) == found.split("|")


@pytest.mark.parametrize(
    "text",
    [
        "It has 3 uA, 43 K/W, 5 dB, 9 Petaops and 10 Mbps. In October/November 2018, in Week 14, in Q2'22, in 2.7.X.",
        "They are K NW-bit and N W-bit groups, several-Kbyte and multi-GPU ones.",
        "so\n= CRCu(M1, v)x |M2| + M2x D + u mod P =\nis B0 (x).",
        'The software is given "AS IS", i.e. so, by its ID.',
    ],
)
def test_units_formulas_and_dates_are_no_names(text: str) -> None:
    assert names(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "9. Entire Agreement, Governing Law and Jurisdiction\nIt is so.",
        "20. DOMICILIA AND NOTICES\nIt is so.",
        "See [R. Miscellaneous](#r-miscellaneous) for it.",
        "Parameter | Min | Max | Unit\nvoltage | 1.2 | 4.5 | V",
        "It was under the headings of Specialty Materials.\n\nSpecialty glass | 725 | 759",
    ],
)
def test_headings_and_columns_of_a_long_document_are_no_names(text: str) -> None:
    assert [name for name in names(f"{PROSE}\n\n{text}") if name != "Specialty Materials"] == []
