"""`hopweave reproduce` over a scripted endpoint: the table in the paper's shape, resuming, and its cost."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from cli.commands.evaluation.reproduce import register
from core.errors import InvalidFilter, InvalidInput, InvalidStrategy, NotFound
from evaluation import (
    Experiment,
    Outcome,
    Reproduction,
    RowsFile,
    build_report,
    estimate_tree_summaries,
    find_table,
    index_dataset,
    place_datasets,
    plan_reproduction,
    read_dataset,
    run_experiment,
)
from tests.integration.evaluation.townsfolk import write_townsfolk
from tests.integration.evaluation.workbench import WorkerHere, workbench
from tests.integration.reasoning.good_model import good_model
from tests.twins.chat_server import Call, ChatServer, Reply

ROWS = ("Vanilla RAG", "CoT")


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as scripted:
        scripted.respond = good_model("Barelmouth", "On which river is it?")
        yield scripted


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_townsfolk(tmp_path / "hotpotqa-towns", people=2)
    return tmp_path / "hotpotqa-towns"


def plan(id: str, folder: Path, *, only: tuple[str, ...] = (), **options: int) -> Reproduction:
    table = find_table(id)
    experiment = Experiment(searchers=(), **options)  # type: ignore[arg-type]  # numbers of questions
    return plan_reproduction(table, place_datasets(table, [str(folder)]), experiment, only=only, has_reranker=False)


async def reproduce(
    planned: Reproduction, server: ChatServer, progress: Callable[[str, int, int], None] = lambda *_: None
) -> Outcome:
    (folder,) = planned.folders
    llm = {"base_url": server.url, "model": "scripted", "send_metadata": True, "retries": 0, "cache": False}
    async with workbench(folder.parent / "data", llm=llm) as container:
        with RowsFile(folder.parent / "rows.jsonl") as rows:
            result = await run_experiment(container, WorkerHere(), folder, planned.experiment, progress, rows)
            rows.finish(result.rows())
        return Outcome(reproduction=planned, results=[result], embedding=container.embedder.model)


class _EndedError(Exception):
    """Stands for what ends a process in the middle."""


async def test_an_interrupted_table_goes_on_without_asking_again(server: ChatServer, folder: Path) -> None:
    def end(what: str, done: int, _total: int) -> None:
        if (what, done) == ("cot:searcher=dense,k=5", 1):
            raise _EndedError

    planned = plan("plan_star.2", folder, only=ROWS)
    cost = planned.estimate_cost()
    assert (cost.questions, cost.answers, cost.calls) == (2, 4, 4)
    assert cost.tokens == 2 * (1_100 + 1_200)
    with pytest.raises(ExceptionGroup):
        await reproduce(planned, server, end)
    assert len(server.calls) == 3
    outcome = await reproduce(planned, server)
    assert [call.question for call in server.calls[3:]] == ["On which river is the town where Corina Mouth was born?"]
    tokens = sum(row.cost.prompt_tokens + row.cost.completion_tokens for row in outcome.results[0].answers)
    assert outcome.counted.startswith(f"Counted: 4 calls and {tokens:,} tokens in")
    assert outcome.headings == ["", "HotpotQA (hotpotqa-towns): Acc"]
    assert outcome.lines[:3] == [["Vanilla RAG", "50.0 (–)"], ["CoT", "50.0 (–)"], ["ReAct", "– (–)"]]
    await reproduce(planned, server)
    assert len(server.calls) == 4


async def test_a_row_of_another_table_with_the_same_strategy_is_not_asked_again(
    server: ChatServer, folder: Path
) -> None:
    depths = plan("plan_star.1", folder, limit=1)
    outcome = await reproduce(depths, server)
    asked = len(server.calls)
    assert asked == outcome.results[0].answers[0].cost.calls > 1
    assert outcome.lines == [
        ["HotpotQA (hotpotqa-towns)", "0.0 (0.5)", "100.0 (12.8)", "0.0 (79.5)", "0.0 (6.8)", "0.0 (0.4)"]
    ]
    outcome = await reproduce(plan("plan_star.3", folder, limit=1, only=("at the same time",)), server)
    assert len(server.calls) == asked
    name, seconds, accuracy = outcome.lines[0]
    assert (name, accuracy) == ("at the same time", "100.0 (–)")
    assert float(seconds.partition(" ")[0]) >= 0


async def test_the_calls_of_a_searcher_are_counted_and_its_model_is_named(server: ChatServer, folder: Path) -> None:
    """Also the calls of the searches that load all, which come first."""
    (folder / "openie.jsonl").write_text(
        "".join(
            json.dumps({"id": f"person{n}", "entities": [person, town], "triples": [[person, "born in", town]]}) + "\n"
            for n, (person, town) in enumerate([("Barina Mouth", "Barmouth"), ("Corina Mouth", "Cormouth")])
        ),
        encoding="utf-8",
    )
    server.respond = lambda _: Reply.json({"named_entities": ["Barina Mouth"]})
    outcome = await reproduce(plan("hippo.1", folder, only=("BM25", "HippoRAG (ColBERTv2)")), server)
    (result,) = outcome.results
    assert [row.error for row in result.searches] == [None] * 4
    assert "Here: scripted, embedding model" in outcome.difference
    assert {call.role for call in server.calls} == {"question_entities"}
    counted = outcome.build_report()["counted"]
    assert (counted["searches"], counted["answers"], counted["calls"]) == (4, 0, len(server.calls))
    assert counted["tokens"] > 0
    report = build_report([result], None)["searchers"]
    assert "models" not in report["sparse"]
    assert [model["name"] for model in report["hippo1"]["models"]] == ["scripted"]
    assert report["hippo1"]["calls_per_query"] == len(server.calls) / 2


async def test_a_table_of_searchers_needs_no_model(server: ChatServer, folder: Path) -> None:
    outcome = await reproduce(plan("hippo.1", folder, only=("BM25",)), server)
    assert outcome.lines[0] == ["BM25", "100.0 (73.1)"]
    assert "Here: no language model, embedding model" in outcome.difference
    assert not server.calls


_SUMMARY = "Painters were born in towns on rivers."


@pytest.mark.slow  # umap-learn compiles what it runs
async def test_raptor_is_asked_on_a_tree_of_summaries_that_is_made_once(server: ChatServer, folder: Path) -> None:
    """The other row is asked on the passages alone; both count the passages that support a question."""
    write_townsfolk(folder, people=4)
    otherwise = server.respond

    def respond(call: Call) -> Reply:
        if call.role == "summarize_cluster":
            return Reply.json({"summary": f"{_SUMMARY} It is the summary {call.number}."})
        return otherwise(call)

    server.respond = respond
    planned = plan("par.1", folder, only=("Vanilla RAG", "RAPTOR"), limit=2)
    told: list[str] = []
    outcome = await reproduce(planned, server, lambda what, *_: told.append(what))
    assert {"indexing", "copying", "grouping", "summarizing layer 1"} <= set(told)
    summaries = [call for call in server.calls if call.role == "summarize_cluster"]
    answers = [call for call in server.calls if call.role == "conclude"]
    assert len(server.calls) == len(summaries) + len(answers)
    assert [_SUMMARY in call.text for call in answers] == [False, False, True, True]
    assert [row.error for row in outcome.results[0].answers] == [None] * 4
    assert {name: scores["union_recall"] for name, scores in outcome.results[0].reasoners.items()} == {
        row.reasoner: 1.0 for row in planned.rows
    }
    assert [line[0] for line in outcome.lines] == ["Vanilla RAG", "RAPTOR", "IRCoT+HippoRAG", "PAR RAG"]
    assert all("–" not in cell.partition(" (")[0] for line in outcome.lines[:2] for cell in line[1:])
    before = len(server.calls)
    again = await reproduce(planned, server)
    assert len(server.calls) == before, "neither a summary nor an answer is paid twice"
    assert again.lines == outcome.lines


def run(*arguments: object) -> tuple[str, str, BaseException | None]:
    app = typer.Typer()
    register(app)
    ran = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return ran.stdout, ran.stderr, ran.exception


@pytest.fixture
def environment(tmp_path: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWEAVE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("HOPWEAVE_LLM__BASE_URL", server.url)
    monkeypatch.setenv("HOPWEAVE_LLM__MODEL", "scripted")


def test_all_tables_are_listed_and_one_is_described_with_its_published_numbers() -> None:
    shown, _, error = run()
    assert error is None
    (listed,) = (line.split() for line in shown.splitlines() if line.startswith(" omni.1 "))
    assert listed[-5:] == ["7", "of", "7", "reranker,", "judge"]
    shown, _, error = run("level.2")
    assert error is None
    assert "LevelRAG, arXiv 2502.18139: Qwen2 7B" in shown
    (line,) = (line for line in shown.splitlines() if line.startswith(" LevelRAG  "))
    assert line.split() == [
        "LevelRAG", "65.52", "85.4", "53.24", "86.5", "78.21", "88.2", "52.28", "51.2", "69.33", "73.2",
        "level:preset=paper",
    ]  # fmt: skip
    shown, _, error = run("par.3", "--json")
    assert error is None
    table = json.loads(shown)
    assert table["needs"] == ["triples"]
    assert table["rows"][0]["published"] == {"squad": ["", "0.65"]}
    assert [one["id"] for one in json.loads(run("--json")[0])["tables"]][:2] == ["par.1", "par.2"]


@pytest.mark.usefixtures("environment")
def test_the_cost_is_estimated_and_nothing_is_asked(server: ChatServer, folder: Path) -> None:
    shown, said, error = run("par.1", "--dataset", folder, "--limit", 1, "--extractor", "pattern+llm", "--estimate")
    assert (shown, error) == ("", None)
    answers, extraction, tree = said.splitlines()
    assert answers.startswith("estimate: 1 question × 4 rows: about 21 calls and 25,922 tokens of a language model;")
    assert extraction.startswith("estimate: extraction from hotpotqa-towns, if it is not indexed yet: 8 calls and ")
    assert tree == "estimate: the tree of hotpotqa-towns, if it is not indexed yet: 0 calls and 0 tokens"  # too few
    assert not server.calls


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        (("level.9",), NotFound, "there is no table 'level.9'"),
        (("--dataset", "DIR"), InvalidInput, "--dataset belongs to a table"),
        (("level.2", "--dataset", "nowhere"), NotFound, "there is no folder nowhere"),
        (("level.2", "--estimate"), InvalidInput, "without --dataset, level.2 is only described"),
        (("level.2", "--dataset", "musique=DIR"), InvalidInput, "level.2 has no dataset 'musique'"),
        (("level.2", "--dataset", "DIR", "--where", "{"), InvalidFilter, "--where is not valid JSON"),
        (("level.2", "--dataset", "DIR", "--where", '{"pop": 1}'), InvalidInput, "--where matches none of the 2"),
        (("level.2", "--dataset", "DIR", "--dataset", "nq=DIR", "--corpus", "c"), InvalidInput, "one dataset"),
        (("level.2", "--dataset", "DIR", "-o", f"{__file__}/page.md"), InvalidInput, "cannot be written"),
        (("omni.1", "--dataset", "DIR"), InvalidInput, "HOPWEAVE_RERANKER__KIND"),
    ],
)
def test_wrong_usage_is_refused_before_anything_is_asked(
    arguments: tuple[str, ...], error: type[Exception], said: str, server: ChatServer, folder: Path
) -> None:
    _, _, raised = run(*(argument.replace("DIR", str(folder)) for argument in arguments))
    assert isinstance(raised, error)
    assert said in str(raised)
    assert not server.calls


async def test_the_tree_over_an_existing_corpus_is_estimated_too(tmp_path: Path) -> None:
    write_townsfolk(tmp_path / "towns", people=4)
    dataset = read_dataset(tmp_path / "towns")
    asked = Experiment(searchers=(), reasoners=("vanilla",), on_tree=frozenset({"vanilla"}))
    async with workbench(tmp_path / "data") as container:
        corpus, _ = await index_dataset(
            container, WorkerHere(), dataset, chunker="passage", extractor="pattern", progress=lambda *_: None
        )
        named = replace(asked, corpus=corpus.name)
        of_corpus = await estimate_tree_summaries(container, dataset.folder, named)
        assert of_corpus is not None
        assert of_corpus.calls == 2  # of 16 passages
        assert of_corpus.prompt_tokens > 2 * 180  # the wording of two prompts, and the passages
        assert await estimate_tree_summaries(container, dataset.folder, replace(named, on_tree=frozenset())) is None
        with pytest.raises(NotFound):
            await estimate_tree_summaries(container, dataset.folder, replace(asked, corpus="missing"))


@pytest.mark.usefixtures("environment")
def test_a_row_of_which_every_question_failed_ends_with_1(server: ChatServer, folder: Path) -> None:
    """Its table is shown all the same, and its rows are asked again by the same command."""
    failing = "the town where"  # which both questions have
    command = ("plan_star.2", "--dataset", folder, "--only", "Vanilla RAG")

    def respond(call: Call) -> Reply:
        if failing in call.text:
            return Reply(status=404, text="there is no such model")
        return Reply.json({"answer": "Corelmouth [1]", "support": "stated", "unstated": ""})

    server.respond = respond
    shown, said, error = run(*command)
    assert "Vanilla RAG" in shown
    assert isinstance(error, SystemExit)
    assert error.code == 1
    assert "hotpotqa-towns: every question of vanilla:searcher=dense,k=5 failed; the first: " in said
    assert "there is no such model" in said
    failing = "the town where Barina"
    shown, _, error = run(*command)
    assert error is None
    assert "Vanilla RAG" in shown
    assert "1 failed" in shown


@pytest.mark.usefixtures("environment")
def test_a_searcher_that_needs_facts_is_refused_before_anything_is_asked(server: ChatServer, folder: Path) -> None:
    """The extractor finds none in these passages, so each question would fail."""
    (folder / "openie.jsonl").write_text("", encoding="utf-8")
    shown, _, error = run("par.1", "--dataset", folder, "--only", "IRCoT+HippoRAG", "--extractor", "pattern+given")
    assert shown == ""
    assert isinstance(error, InvalidStrategy)
    assert "hippo1: corpus 'eval-hotpotqa-towns-" in str(error)
    assert "has no vectors of facts" in str(error)
    assert str(error).endswith("the folder is indexed with --extractor, such as pattern+llm")
    assert not server.calls
