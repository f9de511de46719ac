"""The tables of the papers: each is complete and can be built, and folders, rows and needs are checked before a run."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from app.container import Container
from core.errors import InvalidInput, NotFound
from core.settings import read_settings
from core.strategies import parse_spec
from evaluation import (
    OVERALL,
    Experiment,
    Outcome,
    Result,
    Table,
    dataset_names,
    find_table,
    list_tables,
    place_datasets,
    plan_reproduction,
)
from evaluation.judging import JudgementRow, aggregate_judgements
from evaluation.report.aggregates import aggregate_answers
from evaluation.rows.answer_rows import AnswerRow, Cost, ModelRow
from evaluation.rows.scored_answers import ANSWER_METRICS
from evaluation.rows.search_rows import SEARCH_METRICS
from tests.twins.embedder import TwinEmbedder
from tests.unit.evaluation.builders import result_of

ASKED = Experiment(searchers=())
TABLES = {table.id: table for table in list_tables()}


def row(reasoner: str, **scores: float) -> AnswerRow:
    return AnswerRow(
        question_id="q", question="Who?", reasoner=reasoner, answer="", abstained=False, retrieved=(),
        scores={**dict.fromkeys(ANSWER_METRICS, 0.0), **scores}, seconds=2.0,
        cost=Cost(calls=3, prompt_tokens=900, completion_tokens=100), models=(ModelRow(name="small-1b"),),
    )  # fmt: skip


def result(dataset: str, *answers: AnswerRow) -> Result:
    return replace(result_of(dataset, (), answers), questions=1, passages=40)


@pytest.fixture
def container(tmp_path: Path) -> Container:
    endpoint = "http://127.0.0.1:9"
    model, reranker = {"base_url": f"{endpoint}/v1", "model": "m"}, {"kind": "http", "url": f"{endpoint}/rerank"}
    made = Container(read_settings(data_dir=tmp_path, llm=model, reranker=reranker))
    made.embedder = TwinEmbedder(max_tokens=256)
    return made


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    for name in ("hotpotqa-dev-60", "2WikiMultiHopQA", "mine", "nq_test", "inquiries"):
        (tmp_path / name).mkdir()
    return tmp_path


@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
def test_every_strategy_of_a_table_can_be_built(table: Table, container: Container) -> None:
    for one in table.rows:
        if one.reasoner:
            container.reasoner(parse_spec(one.reasoner))
        if one.searcher:
            container.searcher(parse_spec(one.searcher))


@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
def test_every_table_is_complete(table: Table) -> None:
    scores = {**aggregate_answers([row("vanilla")]), "tokens_per_query": 0, "judge": aggregate_judgements([])}
    assert set(table.datasets) <= dataset_names().keys()
    assert set(table.needs) <= {"triples", "reranker", "judge", "tree"}
    assert len({one.name for one in table.rows}) == len(table.rows)
    for one in table.rows:
        assert [bool(one.reasoner), bool(one.searcher), bool(one.not_run)].count(True) == 1, one.name
        assert set(one.published) <= {*table.datasets, OVERALL}, one.name
        for dataset, numbers in one.published.items():
            assert len(numbers) == len(table.overall if dataset == OVERALL else table.columns), one.name
            assert all(re.fullmatch(r"[0-9][0-9,]*+(\.[0-9]+)?|", number) for number in numbers), one.name
        if one.reasoner:
            assert one.calls
            assert one.tokens
    for column in (*table.columns, *table.overall):
        if any(one.searcher for one in table.rows):
            assert column.metric in SEARCH_METRICS
            continue
        first, *rest = column.metric.split(".")
        assert first in scores
        assert not rest or rest[0] in scores[first]
        assert (first == "judge") is table.judge


def test_a_table_that_does_not_exist_is_named_with_those_that_do() -> None:
    assert len(TABLES) == len(list_tables()), "no two have one id"
    with pytest.raises(NotFound, match=r"no table 'level.9'; there are: par.1, "):
        find_table("level.9")


def test_a_folder_stands_for_the_dataset_of_its_name(folders: Path) -> None:
    placed = place_datasets(find_table("level.2"), [str(folders / one) for one in ("mine", "2WikiMultiHopQA")])
    assert [one.title for one in placed] == ["2WikiMultiHopQA (2WikiMultiHopQA)", "mine"]
    names = ["inquiries", "hotpotqa-dev-60", "nq_test"]
    placed = place_datasets(find_table("level.2"), [str(folders / name) for name in names])
    assert [one.key for one in placed] == ["nq", "hotpotqa", ""]
    placed = place_datasets(find_table("level.2"), [f"PopQA={folders / 'mine'}"])
    assert [one.title for one in placed] == ["PopQA (mine)"]


@pytest.mark.parametrize(
    ("texts", "error", "said"),
    [
        (["musique=mine"], InvalidInput, "has no dataset 'musique'; it has: popqa, nq, triviaqa, hotpotqa, 2wiki"),
        (["nowhere"], NotFound, "there is no folder .*nowhere; name one with corpus.jsonl"),
        (["nq=nowhere"], NotFound, "there is no folder nowhere"),
        (["hotpotqa-dev-60", "hotpotqa=mine"], InvalidInput, "stand for hotpotqa; name another"),
    ],
)
def test_a_dataset_that_cannot_be_placed_is_named(
    texts: list[str], error: type[Exception], said: str, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folders)
    with pytest.raises(error, match=said):
        place_datasets(find_table("level.2"), texts)


@pytest.mark.parametrize(
    ("id", "only", "extractor", "said"),
    [
        ("par.1", (), None, r"'PAR RAG' need a graph of triples, and .*mine has no openie.jsonl: .*--extractor"),
        ("par.1", (), "pattern", "has no openie.jsonl"),
        ("par.1", ("Par-RAG",), None, "--only 'Par-RAG': par.1 has no such row; it has: 'Vanilla RAG', .*'PAR RAG'"),
        ("omni.2", ("Omni-RAG",), None, "omni.2 cannot be run: Omni-RAG: the questions, "),
        ("omni.2", (), None, "omni.2 cannot be run: Omni-RAG: the questions, .*; the winner: another system"),
        ("omni.1", (), None, "HOPWEAVE_RERANKER__KIND"),
    ],
)
def test_what_a_run_lacks_is_said_before(
    id: str, only: tuple[str, ...], extractor: str | None, said: str, folders: Path
) -> None:
    table = find_table(id)
    placed = place_datasets(table, [str(folders / "mine")])
    with pytest.raises(InvalidInput, match=said):
        plan_reproduction(table, placed, ASKED, only=only, extractor=extractor, has_reranker=False)


def test_rows_are_an_experiment_with_what_they_need(folders: Path) -> None:
    table = find_table("par.1")
    placed = place_datasets(table, [f"musique={folders / 'mine'}"])
    plan = plan_reproduction(table, placed, replace(ASKED, limit=3), only=["vanilla rag"], has_reranker=False)
    vanilla = "vanilla:searcher=dense,k=10"
    assert plan.experiment == Experiment(searchers=(), reasoners=(vanilla,), limit=3, extractor="pattern")
    plan = plan_reproduction(table, placed, ASKED, extractor="pattern+llm", has_reranker=False)
    ircot = "ircot:preset=paper,searcher=hippo1,k=10,max_passages=40"
    raptor = "vanilla:searcher=raptor,k=100"
    assert plan.experiment.reasoners == (vanilla, raptor, ircot, "par:preset=paper")
    assert plan.experiment.on_tree == {raptor}
    (folders / "mine" / "openie.jsonl").write_text("")
    plan = plan_reproduction(table, placed, ASKED, has_reranker=False)
    assert plan.experiment.extractor == "pattern+given"
    omni = find_table("omni.1")
    assert plan_reproduction(omni, placed, ASKED, has_reranker=True).experiment.judge


def test_a_table_has_the_papers_shape_with_its_numbers_beside_ours(folders: Path) -> None:
    table = find_table("par.1")
    placed = place_datasets(table, [f"musique={folders / 'mine'}", str(folders / "hotpotqa-dev-60")])
    plan = plan_reproduction(table, placed, ASKED, extractor="llm", only=["Vanilla RAG", "PAR RAG"], has_reranker=False)
    vanilla, par = plan.experiment.reasoners
    results = [
        result("hotpotqa-dev-60", row(vanilla, em=0.5, f1=0.75), row(par, em=1, f1=1)),
        result("mine", row(vanilla), row(par, em=0.25, f1=1 / 3)),
    ]
    outcome = Outcome(reproduction=plan, results=results, embedding="e5")
    first, second = "HotpotQA (hotpotqa-dev-60)", "MuSiQue (mine)"
    assert outcome.headings == [
        "", f"{first}: EM", f"{first}: F1", f"{second}: EM", f"{second}: F1", "all: seconds", "all: tokens",
    ]  # fmt: skip
    assert outcome.lines == [
        ["Vanilla RAG", "0.50 (0.42)", "0.750 (0.564)", "0.00 (0.15)", "0.000 (0.206)", "2.00 (3.40)", "1,000 (821)"],
        ["RAPTOR", "– (0.28)", "– (0.424)", "– (0.14)", "– (0.239)", "– (1.07)", "– (1,034)"],
        ["IRCoT+HippoRAG", "– (0.57)", "– (0.722)", "– (0.29)", "– (0.387)", "– (5.00)", "– (2,024)"],
        ["PAR RAG", "1.00 (0.75)", "1.000 (0.796)", "0.25 (0.40)", "0.333 (0.510)", "2.00 (26.7)", "1,000 (10,081)"],
    ]
    assert outcome.difference == (
        "Here: small-1b, embedding model e5, 1 question of hotpotqa-dev-60 for HotpotQA over 40 passages; 1 question "
        f"of mine for MuSiQue over 40 passages. The paper: {table.paper.setting}."
    )
    assert outcome.counted.startswith("Counted: 12 calls and 4,000 tokens in 8 s, for 4 answers")
    page = outcome.build_page()
    assert "| PAR RAG | 1.00 (0.75) | 1.000 (0.796) |" in page
    (measured, *_) = outcome.build_report()["rows"]
    assert (measured["measured"]["em"], measured["published"]["em"]) == (0.5, "0.42")
    assert (measured["stands_for"], measured["dataset"]) == ("hotpotqa", "hotpotqa-dev-60")
    changed = result("mine", replace(row(par), prompt_set="published 1a2b3c4d"))
    outcome = Outcome(reproduction=replace(plan, datasets=plan.datasets[:1]), results=[changed], embedding="e5")
    assert outcome.difference.startswith("Here: small-1b with the prompts published, embedding model e5, 1 question of")
    assert outcome.counted.endswith("for 1 answer, stored ones included; 0 failed")


def test_a_table_of_datasets_has_a_line_for_each_and_no_number_where_the_paper_has_none(folders: Path) -> None:
    table = find_table("plan_star.1")
    placed = place_datasets(table, [str(folders / "hotpotqa-dev-60"), str(folders / "mine")])
    plan = plan_reproduction(table, placed, ASKED, has_reranker=False)
    (spec,) = plan.experiment.reasoners
    results = [result("hotpotqa-dev-60", row(spec)), result("mine", row(spec))]
    outcome = Outcome(reproduction=plan, results=results, embedding="e5")
    assert outcome.lines == [
        ["HotpotQA (hotpotqa-dev-60)", "100.0 (0.5)", "0.0 (12.8)", "0.0 (79.5)", "0.0 (6.8)", "0.0 (0.4)"],
        ["mine", "100.0 (–)", "0.0 (–)", "0.0 (–)", "0.0 (–)", "0.0 (–)"],
    ]


def test_scores_of_a_judge_and_of_searchers_are_found_by_their_paths(folders: Path) -> None:
    table = find_table("omni.1")
    placed = place_datasets(table, [f"liverag={folders / 'mine'}"])
    plan = plan_reproduction(table, placed, ASKED, only=["top-5"], has_reranker=True)
    (spec,) = plan.experiment.reasoners
    judged = JudgementRow(question_id="q", reasoner=spec, relevance=2, faithfulness=1, cost=Cost(calls=4))
    answered = replace(result("mine", row(spec)), judgements=(judged,))
    outcome = Outcome(reproduction=plan, results=[answered], embedding="e5")
    assert ["top-5", "200 (156)", "100 (80)"] in outcome.lines
    assert ["top-1", "– (140)", "– (62)"] in outcome.lines
    assert outcome.counted.startswith("Counted: 7 calls")
    assert "judged by" not in outcome.difference
    named = replace(judged, models=(ModelRow(name="m"), ModelRow(name="large", role="judge")))
    outcome = replace(outcome, results=[replace(answered, judgements=(named,))])
    assert ", judged by m judge=large, embedding model e5" in outcome.difference
