"""Years, quarters and versions in names and questions."""

import pytest

from core.text.titles import asks_for_newest, family_of, find_wanted_marks, order_of_marks


@pytest.mark.parametrize(
    ("question", "marks"),
    [
        ("What was the cash flow in the Q3 2022 10-Q?", {"q3", "2022"}),
        ("What did Apple spend in the first quarter of 2023?", {"q1", "2023"}),
        ("How do 4.6.1 and v4.6.2 differ?", {"4.6.1", "4.6.2"}),
        ("Sales of FY2023", {"2023"}),
        ("What has changed since 2022, and after version 1.7?", set()),
        ("Was hat sich seit 2021 geändert?", set()),
        ("What is in 2401.18059, IMG_20230405 and iso9001?", set()),
        ("Who wrote section 12?", set()),
    ],
)
def test_marks_of_a_question(question: str, marks: set[str]) -> None:
    assert find_wanted_marks(question) == marks


@pytest.mark.parametrize("question", ["The latest quarter?", "Aus dem neuesten Bericht", "le plus récent rapport"])
def test_the_newest_is_asked_for(question: str) -> None:
    assert asks_for_newest(question)
    assert not asks_for_newest("Later, what was collated?")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("2022 Q3 APL.pdf", "Apple"), ("2023 Q1 APL.pdf", "Something else")),
        (("rules/1.8.md", "Rules"), ("rules/1.9.md", "Rules")),
        (("reports/2022/q3/apl.pdf", ""), ("reports/2023/q1/apl.pdf", "")),
        (("policy-v4.6.1.txt", ""), ("policy-v4.6.2.txt", "")),
        (("17", "1996 Summer Olympics"), ("18", "2000 Summer Olympics")),
    ],
)
def test_versions_of_a_document_are_a_family(one: tuple[str, str], other: tuple[str, str]) -> None:
    (family, first), (same, second) = family_of(*one), family_of(*other)
    assert family == same != ""
    assert first != second


def test_other_documents_are_no_family() -> None:
    assert family_of("2022 Q3 APL.pdf", "")[0] != family_of("2022 Q3 NVD.pdf", "")[0]
    assert family_of("1996.md", "")[0] == family_of("12", "1996")[0] == ""


def test_versions_are_ordered_by_year_quarter_and_numbers() -> None:
    ordered = [{"2022", "q4"}, {"2023", "q1"}, {"2023", "q3"}]
    assert sorted(map(frozenset, reversed(ordered)), key=order_of_marks) == ordered
    assert order_of_marks(frozenset({"4.10.1"})) > order_of_marks(frozenset({"4.9.2"})) > order_of_marks(frozenset())
