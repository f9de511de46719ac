"""Families of documents that a question names, and the families that lose by it."""

import pytest

from retrieval.bridged.versions import find_name_stems, find_unnamed


@pytest.mark.parametrize(
    ("question", "titles", "unnamed"),
    [
        ("What did Acme's annual report say?", ["Acme annual report", "Globex annual report", "Handbook"], [1, 2]),
        ("What did Acme earn?", ["Acme annual report", "Globex annual report"], [1]),
        ("What did Acme and Globex earn?", ["Acme annual report", "Globex annual report"], []),
        ("what did acme earn?", ["Acme annual report", "Globex annual report"], []),
        ("What did they earn in the Annual Report?", ["Acme annual report", "Globex annual report"], []),
        ("What does the pump manual say on May 5?", ["May newsletter", "Pump manual"], []),
        ("Will the pump stop in May?", ["May newsletter", "Will and testament", "Pump manual"], []),
        ("What does the policy say on Will Smith?", ["Smith handbook", "HR policy"], []),
        ("Does the security policy apply to Employees?", ["Employee handbook", "Security policy"], []),
        ("What is the price of the Service Kit in the price list?", ["Service manual", "Price list"], []),
        ("Apple 苹果报告 的收入?", ["Apple 10-Q", "苹果报告", "Globex 10-Q"], [2]),
        ("What does HR say on Apple?", ["Apple 10-Q", "HR", "तिमाही रिपोर्ट", ""], []),
        ("What did Acme earn?", ["", ""], []),
        ("What did Acme earn?", [], []),
        ("", ["Acme", "Globex"], []),
    ],
)
def test_families_that_a_question_does_not_name(question: str, titles: list[str], unnamed: list[int]) -> None:
    families, stems = find_unnamed({str(n): find_name_stems(title) for n, title in enumerate(titles)}, question)
    assert families == {str(n) for n in unnamed}
    assert stems or not families


def test_the_words_of_a_name() -> None:
    assert find_name_stems("The 37signals of 3M, 4Q22, in May 2022") == {"37signals"}
