"""Parts of documents that a question names by a sign, and headings that are of them."""

import pytest

from core.passage_context.named_parts import asks_for_release, compare_parts, find_release, list_parts


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What did batch C weigh?", [("batch", "c")]),
        ("How do batch C and D differ?", [("batch", "c"), ("batch", "d")]),
        ("Was gilt in Phase 2 bis 4?", [("phase", "2"), ("phase", "4")]),
        ("What does May 3, 2024 say?", []),
        ("What was it in year 2024?", []),
        ("When was Kettle 2.5.0 released?", [("version", "2.5.0"), ("kettl", "2.5.0")]),
        ("Is the day 12.05.2024 free?", []),
        ("What is the p-value of a test?", []),
        ("Which form can I use?", []),
        ("Who approves orders of EUR 500?", []),
        ("Who signs loans exceeding 8000 euros, and a loan 8,000?", []),
        ("May an apprentice aged 17 work until 22:00?", []),
        ("Qui signe un montant de CHF 2500?", []),
        ("What is done in phase 2 – 3 weeks?", [("phase", "2")]),
        ("Is a path 3 km from depot 3 free?", [("depot", "3")]),
        ("Which version brought back what 2.0 removed?", []),
        ("Which Go versions did Kettle 2.5 drop?", [("version", "2.5"), ("kettl", "2.5")]),
        ("What does DX-40 weigh, and dx15?", [("dx", "40"), ("dx", "15")]),
        ("Which belt fits the BM-450/450S?", [("bm", "450"), ("bm", "450s")]),
        ("What was sold in Q3-2024, mid-2023 and FY24?", []),
    ],
)
def test_parts_that_a_question_names(question: str, named: list[tuple[str, str]]) -> None:
    assert [(part.kind, part.sign) for part in list_parts(question)] == named


@pytest.mark.parametrize(
    ("heading", "number"),
    [
        ("Changes › 2.5.0 (2025-06-18) › Fixed", "2.5.0"),
        ("Kettle v2.5", "2.5"),
        ("Version 2.5.0, released on 3 May 2025", "2.5.0"),
        ("3.2.1 Installation", ""),
        ("From 2.4.0 to 2.5.0", ""),
        ("Fixed", ""),
    ],
)
def test_the_heading_of_a_release(heading: str, number: str) -> None:
    assert find_release(heading, "Kettle changelog")[0] == number


@pytest.mark.parametrize(
    ("question", "heading", "expected"),
    [
        ("How long was batch C dried?", "2026-01-02 – Batch C (oak)", 1),
        ("How long was batch C dried?", "Batch D", -1),
        ("How long was batch C dried?", "Summary of C", 0),
        ("How long was batch C or D dried?", "Batch D", 1),
        ("What is due in step 2 of phase 1?", "Phase 2 › Step 2", -1),
        ("What does clause 5 say?", "Clause 5.1", 1),
        ("What does the DX-40 weigh?", "DX-15; DX40", 1),
        ("What does the DX-40 weigh?", "DX-15; DX-90", -1),
        ("What does the DX-40 weigh?", "DX-15 to DX-90", 0),
        ("What does the DX-40S weigh?", "DX-40", 0),
        ("What does the DX-40 weigh?", "DX-40S", -1),
        ("What does clause 5.1 say?", "Clause 5", 0),
        ("What does clause 5.1 say?", "Clause 5.2", -1),
        ("What may be sent back under chapter 4?", "Chapter IV Returns", 1),
        ("What may be sent back under chapter 4?", "Chapter VI Claims", -1),
        ("What may be sent back under chapter IV?", "Chapter 4 Returns", 1),
        ("What does appendix 1 list?", "Appendix I Forms", 1),
        ("What does appendix 2 list?", "Appendix I Forms", -1),
        ("How do employees of grade 9 fly?", "Grade 7 and higher", 0),
        ("How do employees of grade 9 fly?", "Grade 7", -1),
        ("How do employees of grade 8 fly?", "Grades 7 to 9", 0),
        ("Erhält man ab Stufe 6 einen Dienstwagen?", "Stufe 4", 0),
        ("Erhält man in Stufe 6 einen Dienstwagen?", "Ab der Stufe 4", 0),
        ("Erhält man in Stufe 6 einen Dienstwagen?", "Stufe 4", -1),
        ("What was fixed in Kettle 2.5.0?", "2.5 › Fixed", 1),
        ("What was fixed in Kettle 2.5.0?", "2.5.1 › Fixed", -1),
        ("What was fixed in Kettle 2.5.0?", "2.5.0 › Fixed", 1),
        ("What was fixed in Kettle 2.5.0?", "2.4.0 › Fixed", -1),
        ("What was fixed in 2.5.0?", "2.4.0 › Fixed", -1),
        ("Does it run with Python 3.9?", "2.4.0 › Fixed", 0),
    ],
)
def test_a_heading_is_of_the_named_part_or_of_another(question: str, heading: str, expected: int) -> None:
    assert compare_parts(list_parts(question), heading, "Kettle changelog") == expected


def test_who_asks_which_version_it_is() -> None:
    asking = ["In which release did it end?", "Which Kettle version has it?", "Welche Version kann das?", "Since when?"]
    assert all(map(asks_for_release, asking))
    assert not any(
        map(asks_for_release, ["What changed in release 2.5?", "Which release 2.5 fix is it?", "Who is it?"])
    )
