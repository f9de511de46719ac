"""The Markdown page on reasoners, and the lines of plans, from rows."""

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from core.errors import InvalidInput, NotFound
from evaluation import AnswerRow, build_page, build_plan_lines, build_report, build_tables, read_answers
from evaluation.report.aggregates import group_by_strategy
from evaluation.report.page import select_worst
from evaluation.rows.answer_rows import Cost, ModelRow, PlannedRow, PromptRow, ReviewRow, StepRow
from evaluation.rows.scored_answers import ANSWER_METRICS
from tests.unit.evaluation.builders import result_of

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


SMALL = ModelRow(name="small-model", endpoint="ollama", profile="small")
LARGE = replace(SMALL, name="large-model", endpoint="openai", max_output_tokens=900, profile="large")
PLANNER = replace(LARGE, role="plan", temperature=0.2)


def with_models(*models: ModelRow, prompt_set: str = "a1") -> AnswerRow:
    return replace(ROW, models=models, prompt_set=prompt_set, fingerprint="|".join(map(repr, models)) + prompt_set)


def test_two_models_are_two_rows_in_every_table() -> None:
    bold = replace(ROW, question_id="q9", gold="g9", answerable=False, gold_answers=(), scores={"abstention": 0.0})
    runs = with_models(SMALL), with_models(LARGE, PLANNER)
    bolds = [replace(bold, models=run.models, fingerprint=run.fingerprint, prompt_set="a1") for run in runs]
    page = build_page({"mills": [*runs, *bolds]})
    names = ("par, small-model, small", "par, large-model, 900 tokens, large; plan: temperature 0.2, 900 tokens, large")
    tables = [part for part in page.split("\n\n") if part.startswith("| strategy |")]
    assert len(tables) == 7
    for table in tables:
        assert [any(line.startswith(f"| `{name}` |") for line in table.splitlines()) for name in names] == [True, True]
    models = next(table for table in tables if "| endpoint |" in table).splitlines()[2:]
    assert models == [
        f"| `{names[0]}` | `all` | `small-model` | `ollama` | – | – | `small` | `a1` |",
        f"| `{names[1]}` | `all` | `large-model` | `openai` | – | `900` | `large` | `a1` |",
        f"| `{names[1]}` | `plan` | `large-model` | `openai` | `0.2` | `900` | `large` | – |",
    ]
    assert all(f"### The worst questions of `{name}`" in page for name in names)


PLANNED = "par, small-model plan=b, small; plan: small"


@pytest.mark.parametrize(
    ("other", "names"),
    [
        (with_models(replace(SMALL, name="b")), ["par, small-model", "par, b"]),
        (with_models(replace(SMALL, temperature=0.5)), ["par, small", "par, temperature 0.5, small"]),
        (with_models(SMALL, prompt_set="mine b2"), ["par, prompts a1", "par, prompts mine b2"]),
        (with_models(SMALL, replace(SMALL, role="plan", name="b")), ["par, small-model, small", PLANNED]),
        (ROW, ["par, small-model, small, prompts a1", "par"]),
        (replace(with_models(SMALL), models=(replace(SMALL, endpoint="openai-compatible"),)), ["par"]),
    ],
)
def test_runs_are_named_with_what_they_differ_in(other: AnswerRow, names: list[str]) -> None:
    assert list(group_by_strategy([with_models(SMALL), other])) == names


def test_models_differ_even_in_rows_with_one_fingerprint() -> None:
    rows = [replace(with_models(model), fingerprint="") for model in (SMALL, LARGE)]
    assert len(group_by_strategy(rows)) == 2


def test_the_tables_of_the_terminal_and_the_json_name_the_models() -> None:
    scored = replace(with_models(SMALL, PLANNER), scores=dict.fromkeys(ANSWER_METRICS, 0.0))
    result = result_of("mills", (), [scored])
    file = io.StringIO()
    Console(width=160, file=file).print(build_tables([result, result]))
    assert re.search(r"^par +all +small-model +ollama +– +– +small +a1", file.getvalue(), re.MULTILINE)
    assert re.search(r"^par +plan +large-model +openai +0.2 +900 +large +–", file.getvalue(), re.MULTILINE)
    report = build_report([result, result], None)
    named = report["datasets"][0]["reasoners"]["par"]["models"]
    assert [model["name"] for model in named] == ["small-model", "large-model"]
    assert not {"models", "prompt_set"} & report["average"]["reasoners"]["par"].keys()


def test_rows_of_earlier_releases_are_read_without_their_models(tmp_path: Path) -> None:
    fields = {name: value for name, value in ROW.to_json().items() if name not in ("models", "prompt_set")}
    (tmp_path / "old.jsonl").write_text(json.dumps({"kind": "answer", "dataset": "mills", **fields}) + "\n")
    old = read_answers(tmp_path / "old.jsonl")
    assert old == {"mills": [ROW]}
    assert "Models and prompts" not in build_page(old)


def test_files_of_several_runs_are_read_together_and_the_last_of_two_rows_counts(tmp_path: Path) -> None:
    later = with_models(replace(SMALL, temperature=0.5))
    small, large = with_models(SMALL), with_models(LARGE)
    files = [write(tmp_path / "a.jsonl", small, small), write(tmp_path / "b.jsonl", large, later, later)]
    assert read_answers(*files) == {"mills": [small, large, later]}
    with pytest.raises(InvalidInput, match="holds no answers"):
        read_answers(files[0], write(tmp_path / "rows.jsonl"))


def test_plans_are_lines_with_the_scores_of_their_answers() -> None:
    (line,), left_out = build_plan_lines([ROW, replace(RIGHT, plan=())])
    assert left_out == 0
    steps = [
        {"id": "1", "question": "Where is the mill?", "parents": []},
        {"id": "2", "question": "On #1?", "parents": ["1"]},
    ]
    scores = {"support": "inferred", "em": 0.0, "f1": 0.0, "union_recall": 0.5}
    assert json.loads(line) == {"id": "q1", "question": ROW.question, "plan": steps, "reasoner": "par", **scores}


def write(path: Path, *rows: AnswerRow) -> Path:
    answers = [{"kind": "answer", "dataset": "mills", **row.to_json()} for row in rows]
    lines = [{"kind": "search", "dataset": "mills"}, *answers]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


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
        prompts=(PromptRow(role=evil, calls=1, longest=9),), prompt_set=evil,
        models=(ModelRow(name=evil, endpoint=evil, profile=evil), ModelRow(name=evil, role=evil)),
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
