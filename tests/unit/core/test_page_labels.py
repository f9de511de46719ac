"""Labels of pages: their sequences in metadata, and what is made of metadata that a sender gives."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.passage_context import find_page_label, make_page_labels, name_page

_REPORT = [*("i", "ii", "iii", "iv"), *map(str, range(1, 30)), *(f"A-{n}" for n in range(1, 12)), *("a", "b", "c")]


def labels_of(found: dict[str, str], pages: int) -> list[str]:
    return [find_page_label({"page_labels": found}, page) for page in range(1, pages + 1)]


def test_sequences_of_a_report() -> None:
    found = make_page_labels(_REPORT)
    assert found == {"1": "i", "5": "1", "34": "A-1", "45": "a"}
    assert labels_of(found, len(_REPORT)) == _REPORT
    assert name_page(4, find_page_label({"page_labels": found}, 4)) == "4 (iv)"


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (["Cover", "Cover", "1", "2"], {"1": "Cover", "3": "1"}),
        (["IX", "X", "XI", "M", "MI"], {"1": "IX", "4": "M"}),
        (["y", "z", "aa", "bb"], {"1": "y"}),
        (["c", "d", "e"], {"1": "c", "2": "d", "3": "e"}),
        (["F-3", "F-4", "", "", "5"], {"1": "F-3", "3": "", "5": "5"}),
        (["1", "2", "3"], {}),
        (["", "", ""], {}),
        ([], {}),
        (["x" * 31, "x" * 31], {}),
    ],
)
def test_sequences(labels: list[str], found: dict[str, str]) -> None:
    assert make_page_labels(labels) == found


def test_a_label_that_is_the_number_of_the_page_is_none() -> None:
    found = make_page_labels(["1", "2", "i", "4"])
    assert labels_of(found, 5) == ["", "", "i", "", ""]
    assert name_page(4, "") == "4"


def test_labels_of_more_than_two_hundred_sequences_are_left_out() -> None:
    assert make_page_labels([f"{n}x" for n in range(201)]) == {}
    assert len(make_page_labels([f"{n}x" for n in range(200)])) == 200


@given(st.lists(st.text("ivxlcmdXIVab01289- .é", max_size=6) | st.sampled_from(_REPORT), max_size=40))
def test_every_label_is_found_again(labels: list[str]) -> None:
    written = [" ".join(label.split()) for label in labels]
    expected = ["" if label == str(page) else label for page, label in enumerate(written, start=1)]
    found = make_page_labels(labels)
    assert labels_of(found, len(labels)) == expected


@pytest.mark.parametrize(
    ("stated", "label"),
    [
        (None, ""),
        (7, ""),
        (["i"], ""),
        ({"one": "i", "": "i", "-1": "i", "\u0663": "i", "9" * 5000: "i"}, ""),
        ({"1": 7, "2": ["i"], "3": None}, ""),
        ({"1": "x" * 5000}, ""),
        ({"1": "i"}, ""),
        ({"1": "a"}, ""),
        ({"999999990": "i"}, "xi"),
        ({"1": "999999999"}, "1999999998"),
    ],
)
def test_what_a_sender_gives_is_bounded(stated: Any, label: str) -> None:
    assert find_page_label({"page_labels": stated}, 1_000_000_000) == label


def test_a_passage_without_a_page_has_no_label() -> None:
    assert find_page_label({"page_labels": {"1": "i"}}, None) == ""
    assert find_page_label({}, 4) == ""
