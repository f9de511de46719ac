"""The Markdown page on reasoners, and the lines of plans, from rows."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import InvalidInput, NotFound
from evaluation import AnswerRow, build_page, build_plan_lines, read_answers
from evaluation.report.aggregates.strategy_rows import group_by_strategy
from evaluation.report.pages.worst_questions import select_worst
from evaluation.rows.answer_rows import Cost
from evaluation.rows.step_rows import PlannedRow, PromptRow, ReviewRow, StepRow

STEP = StepRow(id="1", question="Where is the mill?", answer="Orrin | Vell", depth=0, support="stated", found=("p1",))
ROW = AnswerRow(
    question_id="q1",
    question="On which river is the mill of <Tam>?",
    reasoner="par",
    answer="Veld",
    abstained=False,
    retrieved=("p1",),
    scores={"em": 0.0, "f1": 0.0, "union_recall": 0.5},
    seconds=2.0,
    cost=Cost(calls=3, prompt_tokens=1000, completion_tokens=50),
    unsupported="infer",
    support="inferred",
    note="This answer is inferred.",
    steps=(STEP, replace(STEP, id="2", answer="", support="none", unstated="the river", found=())),
    plan=(PlannedRow(id="1", question="Where is the mill?"), PlannedRow(id="2", question="On #1?", parents=("1",))),
    reviews=(ReviewRow(step="2", verdict="REVISED", before="", after="Veld", before_f1=0.0, after_f1=1.0),),
    prompts=(PromptRow(role="answer", calls=2, longest=600), PromptRow(role="review", calls=1, longest=400)),
    type="bridge",
    gold_answers=("Dole", "River Dole"),
    supporting=("p1", "p2"),
    fingerprint="f",
    gold="g1",
)
RIGHT = replace(
    ROW, question_id="q2", gold="g2", answer="Dole", scores={"em": 1.0, "f1": 1.0, "union_recall": 1.0},
    support="stated", type="comparison",
)  # fmt: skip
SILENT = replace(
    ROW, question_id="q3", gold="g3", abstained=True, support="none",
    scores={"em": 0.0, "f1": 0.0, "union_recall": 1.0},
)  # fmt: skip


def test_cost_stands_beside_quality() -> None:
    page = build_page({"mills": [ROW, RIGHT, SILENT]})
    assert "## mills: 3 questions" in page
    heading = next(line for line in page.splitlines() if line.startswith("| strategy | EM"))
    row = next(line for line in page.splitlines() if line.startswith("| `par` | 33.3"))
    cells = dict(zip(heading.split(" | "), row.split(" | "), strict=True))
    assert (cells["F1"], cells["calls"], cells["tokens"], cells["longest prompt"]) == ("33.3", "3.0", "1,050", "600")
    assert (cells["abstained"], cells["needless"], cells["EM, answered"]) == ("1", "1", "50.0")
    assert (cells["stated"], cells["inferred"], cells["none"]) == ("33.3", "33.3", "33.3")
    assert "| `par` | 9 | 3,150 | 6 |" in page


def test_reviews_prompts_and_types_have_tables() -> None:
    page = build_page({"mills": [ROW, RIGHT]})
    assert "| strategy | bridge (1) | comparison (1) |" in page
    assert "| `par` | 0.0 | 100.0 |" in page
    assert "| `par` | 0 | 0 | 0 | 2 | 0 | 0 | 0 | 0 | 0 | 0 |" in page
    assert "| `par` | `answer` | 600 | 2.00 |" in page
    plain = build_page({"mills": [replace(RIGHT, reviews=(), type="")]})
    assert "Reviews" not in plain
    assert "by type" not in plain
    assert "The worst" not in plain


def test_the_worst_questions_have_their_traces_and_no_markup_of_theirs() -> None:
    page = build_page({"mills": [ROW]})
    assert r"#### On which river is the mill of \<Tam\>?" in page
    assert "- gold: Dole / River Dole" in page
    assert "- answer: Veld (inferred)" in page
    assert "- note: This answer is inferred." in page
    assert "- supporting passages: p1 retrieved, p2 **not retrieved**" in page
    assert "- review of step 2: REVISED, from (no answer) to Veld" in page
    assert r"| 1 | Where is the mill? | Orrin \| Vell | stated | 1 of 2 |" in page
    assert "| 2 | Where is the mill? | – | none: not stated: the river | 0 of 2 |" in page


def test_failures_of_the_reasoner_come_before_those_of_the_search() -> None:
    sure = replace(ROW, question_id="sure", support="stated", scores={"em": 0.0, "f1": 0.0, "union_recall": 1.0})
    half = replace(ROW, question_id="half", scores={"em": 0.0, "f1": 0.5, "union_recall": 1.0})
    rows = [half, ROW, RIGHT, SILENT, sure]
    assert [row.question_id for row in select_worst(rows, 5)] == ["sure", "q3", "q1", "half"]
    assert [row.question_id for row in select_worst(rows, 1)] == ["sure"]
    bold = replace(ROW, answerable=False, scores={"abstention": 0.0})
    assert select_worst([bold, replace(bold, abstained=True, scores={"abstention": 1.0})], 5) == [bold]


def test_unanswerable_questions_have_a_table_of_their_own() -> None:
    bold = replace(ROW, answerable=False, gold_answers=(), supporting=(), scores={"abstention": 0.0})
    page = build_page({"mills": [bold, replace(bold, abstained=True, gold="g9", scores={"abstention": 1.0})]})
    assert "| `par` | 50.0 |" in page
    assert "- gold: (the corpus has no answer)" in page


def test_a_failed_question_says_why() -> None:
    page = build_page({"mills": [replace(ROW, error="the model\ncannot be reached", answer="")]})
    assert "- failed: the model cannot be reached" in page


def test_runs_of_one_reasoner_are_told_apart() -> None:
    strict = replace(ROW, unsupported="abstain", fingerprint="s")
    assert list(group_by_strategy([ROW, strict])) == ["par, infer", "par, abstain"]
    assert list(group_by_strategy([ROW, replace(ROW, fingerprint="other")])) == ["par", "par (run 2)"]
    assert list(group_by_strategy([ROW, SILENT, replace(ROW, reasoner="auto")])) == ["par", "auto"]


def test_the_same_rows_give_the_same_page() -> None:
    assert build_page({"mills": [ROW, RIGHT]}) == build_page({"mills": [ROW, RIGHT]})


def test_plans_are_lines_with_the_scores_of_their_answers() -> None:
    (line,) = build_plan_lines([ROW, replace(RIGHT, plan=())])
    assert json.loads(line) == {
        "id": "q1",
        "question": ROW.question,
        "plan": [
            {"id": "1", "question": "Where is the mill?", "parents": []},
            {"id": "2", "question": "On #1?", "parents": ["1"]},
        ],
        "reasoner": "par",
        "support": "inferred",
        "em": 0.0,
        "f1": 0.0,
        "union_recall": 0.5,
    }


def write(path: Path, *rows: AnswerRow) -> Path:
    lines = [
        {"kind": "search", "dataset": "mills"},
        *({"kind": "answer", "dataset": "mills", **r.to_json()} for r in rows),
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_rows_come_back_from_their_file_and_the_last_of_two_counts(tmp_path: Path) -> None:
    later = replace(ROW, answer="Dole")
    assert read_answers(write(tmp_path / "rows.jsonl", ROW, RIGHT, later)) == {"mills": [later, RIGHT]}


def test_a_file_without_answers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="holds no answers"):
        read_answers(write(tmp_path / "rows.jsonl"))
    with pytest.raises(NotFound):
        read_answers(tmp_path / "nothing.jsonl")
    old = {"kind": "answer", "dataset": "mills", "question_id": "q"}
    (tmp_path / "old.jsonl").write_text(json.dumps(old) + "\n")
    with pytest.raises(InvalidInput, match="of another release"):
        read_answers(tmp_path / "old.jsonl")


def test_no_part_of_a_row_is_markup() -> None:
    evil = "a` | <script>alert(1)</script> [x](http://e) &lt; \x1b[31m\u202e"
    review = ReviewRow(step=evil, verdict="PASS", before=evil, after=evil, before_f1=0.0, after_f1=0.0)
    row = replace(
        ROW, question_id=evil, question=evil, reasoner=evil, answer=evil, note=evil, notes=(evil,), type=evil,
        gold_answers=(evil,), supporting=(evil,), steps=(replace(STEP, id=evil, question=evil),), reviews=(review,),
        prompts=(PromptRow(role=evil, calls=1, longest=9),),
    )  # fmt: skip
    page = build_page({evil: [row]})
    outside = re.sub(r"(?<!\\)`[^`\n]*`", "", page)
    assert not re.search(r"(?<!\\)<", outside)
    assert not re.search(r"(?<!\\)[\[&]", outside)
    assert "\x1b" not in page
    assert "\u202e" not in page
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert rows
    assert not any("a' |" in line for line in rows), "a column of a table in code"


def test_a_long_text_without_spaces_is_shown() -> None:
    page = build_page({"mills": [replace(ROW, answer="北京大学" * 200)]})
    assert "北京大学" * 90 in page
