import pytest

from core.text.terms import split_words
from reasoning.strategies.survey.judging import Verdict
from reasoning.strategies.survey.plan import read_plan
from reasoning.strategies.survey.row_judging import Cell, judge_row

YES, NO, OPPOSITE, UNDECIDED = Verdict.YES, Verdict.NO, Verdict.OPPOSITE, Verdict.UNDECIDED


def judge(question: str, row: str, title: str = "Contracts") -> Verdict:
    """`row` has cells as `Name: text`, of which the first names the row."""
    parts = [part.partition(":") for part in row.split(";")]
    cells = [Cell(column=name.strip(), text=text.strip()) for name, _, text in parts]
    heads = frozenset(word.stem for word in split_words(title))
    return judge_row(read_plan(question), title, heads, cells, cells[0])


@pytest.mark.parametrize(
    ("question", "row", "verdict"),
    [
        ("Which contracts are insured?", "Contract: A; Insured: yes", YES),
        ("Which contracts are insured?", "Contract: A; Insured: no", OPPOSITE),
        ("Which contracts are insured?", "Contract: A; Remark: not checked; Insured: yes", YES),
        ("Which contracts are not insured?", "Contract: A; Insured: no", YES),
        ("Which contracts are insured?", "Contract: A; Insured:", UNDECIDED),
        ("Which contracts are insured?", "Contract: A; Insured: since May", UNDECIDED),
        ("Which contracts are full-time?", "Contract: A; Full-time: no", OPPOSITE),
        ("Which contracts over 1000 EUR are paid?", "Contract: A; Price: 2,500 EUR; Paid: no", OPPOSITE),
        ("Which contracts over 1000 EUR are paid?", "Contract: A; Price: 2,500 EUR; Paid: yes", YES),
        ("Which contracts are paid?", "Contract: A; Status: to be paid", UNDECIDED),
        ("Which contracts are over 1,000,000 EUR?", "Contract: A; Price (EUR thousand): 1,500", UNDECIDED),
        ("Which contracts have auto-renewal?", "Contract: A; Auto-renewal: no", OPPOSITE),
        ("Which contracts mention a pump?", "Contract: A; Text: the pump did not fail", YES),
        ("Which contracts are not full-time?", "Contract: A; Full-time: no", YES),
        ("Which contracts say that the pump failed?", "Contract: A; Text: the pump did not fail", OPPOSITE),
        ("Which contracts are of high risk?", "Contract: A; Risk: high", YES),
        ("Which contracts are of high risk?", "Contract: A; Risk: low", NO),
        ("Which contracts are over 2000?", "Contract: A; Signed: 2025-01-01; Price: 1,000 EUR", OPPOSITE),
        ("Which contracts are over 2000?", "Contract: A; Signed: 2025-01-01; Price: 3,000 EUR", YES),
        ("Which contracts are over 1,000 EUR?", "Contract: A; Price: € 3,000", YES),
        ("Which contracts have a gross price over 1,000?", "Contract: A; Net price: 900; Gross price: 1,071", YES),
        ("Which contracts end before 2025?", "Contract: A; Signed: 2023-01-01; End: 2026-01-01", OPPOSITE),
        ("Which contracts end before 2025?", "Contract: A; Signed: 2023-01-01; End: 2024-01-01", YES),
        ("Which contracts end before 31.12.2024?", "Contract: A; End: 2024-01-01", UNDECIDED),
        ("Which contracts with Ann Quist are open?", "Contract: A; Party: Ann Quist; Status: open", YES),
        ("Which contracts with Ann Quist are open?", "Contract: A; Party: Quist; Owner: Ann; Status: open", YES),
        ('Which contracts say "net 30"?', "Contract: A; Terms: net 30 days", YES),
        ('Which contracts say "net 30"?', "Contract: A; Terms: 30 net", NO),
    ],
)
def test_a_row_is_judged_by_its_cells(question: str, row: str, verdict: Verdict) -> None:
    assert judge(question, row) is verdict


@pytest.mark.parametrize("question", ["Which leases end before 31.12.2024?", "Which leases are open or returned?"])
def test_what_is_not_read_is_named(question: str) -> None:
    assert read_plan(question).unread
