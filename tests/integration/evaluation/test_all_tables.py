"""Every table of the papers that can be run, over a scripted endpoint: each row has a figure in each of its cells."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.container import Container
from evaluation import Experiment, Outcome, RowsFile, list_tables, place_datasets, plan_reproduction, run_experiment
from tests.integration.evaluation.townsfolk import write_townsfolk
from tests.integration.evaluation.workbench import WorkerHere, workbench
from tests.integration.reasoning.good_model import good_model
from tests.twins.chat_server import Call, ChatServer, Reply
from tests.twins.rerank_server import RerankServer

_TREE = "tree"
"""Rows on a tree of summaries have a test of their own (`test_reproduce.py`), since UMAP takes long to load."""
_ANSWER = "Barelmouth"


def respond(call: Call) -> Reply:
    match call.role:
        case "question_entities":
            return Reply.json({"named_entities": ["Barina Mouth"]})
        case "filter_facts":
            return Reply.json({"keep": [1]})
        case "judge_reference":
            return Reply.json({"answer": _ANSWER})
        case "judge":
            return Reply.json({"score": 1})
        case "judge_gain":
            return Reply.json({"score": 7})
        case "plan_dag":
            nodes = ["Where was Barina Mouth born?", "On which river is <A1.1>?", "What is the name of <A2.1>?"]
            return Reply.json(
                {"nodes": [{"id": f"Q{depth}.1", "question": text} for depth, text in enumerate(nodes, start=1)]}
            )
        case "fill_tags":
            return Reply.json({"question": "On which river is Barmouth?"})
    return good_model(_ANSWER, "On which river is Barmouth?")(call)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The townsfolk with facts, and with sentences that support the questions, as HotpotQA has them."""
    folder = tmp_path / "towns"
    write_townsfolk(folder, people=2)
    passages = [json.loads(line) for line in (folder / "corpus.jsonl").read_text("utf-8").splitlines()]
    titles = {passage["id"]: passage["title"] for passage in passages}
    lengths = {passage["id"]: len(passage["text"]) for passage in passages}
    facts = [("person0", "was born in", "town0"), ("person1", "was born in", "town1")]
    lines = [
        {"id": person, "entities": [titles[person], titles[town]], "triples": [[titles[person], verb, titles[town]]]}
        for person, verb, town in facts
    ]
    (folder / "openie.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    questions = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
    for question in questions:
        sentences = [{"id": key, "start": 0, "end": lengths[key]} for key in question["supporting"]]
        question["supporting_sentences"] = sentences
    (folder / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in questions), encoding="utf-8")
    return folder


@pytest.fixture
async def container(tmp_path: Path) -> AsyncIterator[Container]:
    with ChatServer(respond=respond) as server, RerankServer() as reranker:
        llm = {"base_url": server.url, "model": "scripted", "send_metadata": True, "retries": 0}
        reranking = {"kind": "http", "url": reranker.address}
        async with workbench(tmp_path / "data", llm=llm, reranker=reranking) as opened:
            yield opened


async def test_each_row_has_a_figure_in_each_cell(container: Container, folder: Path, tmp_path: Path) -> None:
    run = []
    for table in list_tables():
        rows = [row for row in table.rows if row.spec and _TREE not in row.needs]
        if not rows:
            continue
        planned = plan_reproduction(
            table,
            place_datasets(table, [f"{table.datasets[0]}={folder}"]),
            Experiment(searchers=(), limit=1),
            only=[row.name for row in rows],
            extractor="pattern+given",
            has_reranker=True,
        )
        with RowsFile(tmp_path / "rows.jsonl") as kept:
            result = await run_experiment(container, WorkerHere(), folder, planned.experiment, lambda *_: None, kept)
        outcome = Outcome(reproduction=planned, results=[result], embedding="twin")
        failed = {row.reasoner: row.error for row in result.answers if row.error}
        failed |= {row.searcher: row.error for row in result.searches if row.error}
        failed |= {f"judging {row.reasoner}": row.error for row in result.judgements if row.error}
        assert not failed, table.id
        for line in outcome.build_report()["rows"]:
            unknown = [metric for metric, value in line["measured"].items() if value is None]
            assert not unknown, (table.id, line["name"])
        assert outcome.build_page()
        run.append(table.id)
    assert run == [table.id for table in list_tables() if table.id != "omni.2"], "all but the challenge's own table"
