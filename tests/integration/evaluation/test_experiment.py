"""The example corpus through `run_experiment`: the real stores, a worker in this process, the embedder's twin."""

import asyncio
import io
import json
import re
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from app.container import Container
from core.errors import InvalidInput, InvalidSettings, InvalidStrategy, NotFound
from core.ports.reasoning import Unsupported
from evaluation import Experiment, Result, build_tables, read_dataset, run_experiment
from tests.integration.evaluation.workbench import EXAMPLE, WorkerHere, workbench
from tests.integration.reasoning.good_model import good_model
from tests.twins.chat_server import ChatServer


async def evaluated(container: Container, experiment: Experiment) -> Result:
    told: list[tuple[str, int, int]] = []
    result = await run_experiment(container, WorkerHere(), EXAMPLE, experiment, lambda *progress: told.append(progress))
    assert all(done <= total for _, done, total in told)
    return result


def shown(result: Result) -> str:
    file = io.StringIO()
    Console(width=160, file=file).print(build_tables([result]))
    return file.getvalue()


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder in which the example is indexed, for what only asks."""
    folder = tmp_path_factory.mktemp("indexed")

    async def index() -> None:
        async with workbench(folder) as container:
            await evaluated(container, Experiment(searchers=("sparse",), limit=1))

    asyncio.run(index())
    return folder


@pytest.fixture
async def ready(indexed: Path) -> AsyncIterator[Container]:
    async with workbench(indexed) as container:
        yield container


async def test_a_dataset_is_indexed_searched_and_asked(container: Container) -> None:
    experiment = Experiment(searchers=("sparse", "fused:pool=50"), reasoners=("extractive",), limit=5)
    result = await evaluated(container, experiment)
    assert result.index is not None
    assert (result.index.indexed, result.index.unchanged) == (99, 0)
    assert result.index.passages_per_second == pytest.approx(99 / (result.index.seconds or 0))
    assert (result.index.peak_rss_mb or 0) > 10
    assert re.fullmatch(r"eval-musique-small-[0-9a-f]{8}", result.corpus)
    assert set(result.searchers) == {"sparse", "fused:pool=50"}
    assert [len(result.searches), len(result.answers)] == [10, 5]
    # The first question names a village that one passage is about: every searcher has to find it.
    assert all(scores.means["mrr"] > 0.5 and not scores.failed for scores in result.searchers.values())
    assert result.reasoners["extractive"]["failed"] == 0


async def test_the_second_time_nothing_is_indexed_and_another_extractor_has_another_corpus(
    container: Container,
) -> None:
    first = await evaluated(container, Experiment(searchers=("sparse",), limit=1))
    again = await evaluated(container, Experiment(searchers=("sparse",), limit=1))
    assert again.index is not None
    assert (again.corpus, again.index.indexed, again.index.unchanged) == (first.corpus, 0, 99)
    assert again.index.seconds is None
    given = await evaluated(container, Experiment(searchers=("graph",), limit=1, extractor="given"))
    assert given.corpus != first.corpus
    corpus = await container.record.corpora.get(given.corpus)
    assert (await container.record.corpora.count(corpus.id)).facts > 100


async def test_a_corpus_that_is_there_is_taken_as_it_is(ready: Container) -> None:
    made = await evaluated(ready, Experiment(searchers=("sparse",), limit=12))
    taken = await evaluated(ready, Experiment(searchers=("sparse",), limit=12, corpus=made.corpus))
    assert taken.index is None
    assert [row.ranking for row in taken.searches] == [row.ranking for row in made.searches]
    with pytest.raises(NotFound):
        await evaluated(ready, Experiment(corpus="unknown"))


async def test_a_sample_is_the_same_for_all_and_another_seed_gives_another(ready: Container) -> None:
    asked = Experiment(searchers=("sparse",), reasoners=("extractive", "extractive:sentences=1"), sample=4, seed=1)
    result = await evaluated(ready, asked)
    chosen = [row.question_id for row in result.searches]
    assert len(chosen) == result.questions == 4
    assert [row.question_id for row in result.answers] == chosen * 2
    again = await evaluated(ready, replace(asked, reasoners=()))
    assert [row.question_id for row in again.searches] == chosen
    others = [await evaluated(ready, replace(asked, reasoners=(), seed=seed)) for seed in (2, 3)]
    assert any([row.question_id for row in one.searches] != chosen for one in others)
    every = await evaluated(ready, replace(asked, reasoners=(), sample=99))
    assert every.questions == 12


async def test_a_sample_of_the_corpus_holds_what_questions_need(container: Container) -> None:
    asked = Experiment(searchers=("sparse",), sample=4, seed=1, corpus_sample=10)
    result = await evaluated(container, asked)
    questions = {question.id: question for question in read_dataset(EXAMPLE).questions}
    needed = {support.key for row in result.searches for support in questions[row.question_id].supporting}
    corpus = await container.record.corpora.get(result.corpus)
    kept = {one.key for one in (await container.record.documents.list(corpus.id, limit=99)).data}
    assert needed < kept
    assert len(kept) == result.passages == len(needed) + 10
    again = await evaluated(container, asked)
    assert (again.corpus, again.index and again.index.unchanged) == (result.corpus, len(kept))
    other = await evaluated(container, replace(asked, seed=2))
    assert other.corpus != result.corpus


def test_the_first_questions_and_random_ones_exclude_each_other() -> None:
    with pytest.raises(InvalidInput, match="give one of them"):
        Experiment(limit=3, sample=3)


async def test_questions_of_another_set_are_scored_by_abstention(ready: Container) -> None:
    file = ready.settings.data_dir / "foreign.jsonl"
    file.write_text('{"id": "f", "question": "qqq zzz xxx?", "answer": "y", "supporting": ["elsewhere"]}\n')
    asked = Experiment(searchers=("sparse",), reasoners=("extractive",), questions=file, unanswerable=True)
    result = await evaluated(ready, asked)
    assert result.answers[0].abstained
    scores = result.reasoners["extractive"]
    assert (scores["abstention"], scores["em"], scores["union_recall"]) == (1.0, None, None)
    assert result.searchers["sparse"].means["recall@5"] is None
    assert "abstention" in shown(result)


async def test_a_support_is_asked_for_and_kept(ready: Container) -> None:
    asked = Experiment(searchers=(), reasoners=("extractive:min_probability=0",), limit=2)
    for unsupported, support in ((Unsupported.INFER, "quoted"), (Unsupported.ABSTAIN, "none")):
        result = await evaluated(ready, replace(asked, unsupported=unsupported))
        assert {(row.unsupported, row.support) for row in result.answers} == {(str(unsupported), support)}
        assert result.reasoners["extractive:min_probability=0"]["supports"][support] == 1.0


async def test_lower_case_questions_are_asked_in_lower_case(ready: Container) -> None:
    result = await evaluated(ready, Experiment(searchers=("sparse",), lowercase=True, limit=2))
    assert result.searches[1].question.startswith("when was the astronomical clock built")
    written = await evaluated(ready, Experiment(searchers=("sparse",), limit=2))
    assert written.searches[1].question.startswith("When was the astronomical clock built")
    assert written.corpus == result.corpus


async def test_a_wrong_name_is_one_error_before_anything_is_indexed(container: Container) -> None:
    for experiment in (Experiment(searchers=("nearest",)), Experiment(reasoners=("oracle",))):
        with pytest.raises(InvalidStrategy, match="there is no"):
            await evaluated(container, experiment)
    assert await container.record.corpora.list() == []


async def test_a_preset_that_needs_triples_is_refused_once_before_any_question(tmp_path: Path) -> None:
    """And not as a row for each question that failed."""
    asked = Experiment(searchers=(), reasoners=("vanilla", "par:preset=paper"), limit=2)
    with ChatServer(respond=good_model("Barelmouth", "On which river is it?")) as server:
        llm = {"base_url": server.url, "model": "scripted", "send_metadata": True, "cache": False}
        async with workbench(tmp_path, llm=llm) as container:
            refused = r"'par' searches a graph of triples, and the corpus '[^']*' has none.*with --extractor, such as"
            with pytest.raises(InvalidStrategy, match=refused):
                await evaluated(container, asked)
            (corpus,) = await container.record.corpora.list()
            with pytest.raises(InvalidStrategy, match=r"reindex it .* without the preset$"):
                await evaluated(container, replace(asked, corpus=corpus.name))
            assert not server.calls
            result = await evaluated(container, replace(asked, extractor="pattern+given"))
    assert [row.error for row in result.answers] == [None] * 4


async def test_a_searcher_that_needs_facts_is_refused_once_before_any_question(tmp_path: Path) -> None:
    """Whichever reasoner or searcher searches with it; without its review, `par` does not."""
    with ChatServer(respond=good_model("Barelmouth", "On which river is it?")) as server:
        llm = {"base_url": server.url, "model": "scripted", "send_metadata": True, "cache": False}
        async with workbench(tmp_path, llm=llm) as container:
            for refused in (
                Experiment(searchers=("hippo1",)),
                Experiment(searchers=("listwise:over=hippo",)),
                Experiment(searchers=(), reasoners=("ircot:searcher=hippo1",)),
                Experiment(searchers=(), reasoners=("extractive",), over="hippo1"),
                Experiment(searchers=(), reasoners=("level:searchers=sparse+hippo1",)),
                Experiment(searchers=(), reasoners=("par:fine=hippo1",)),
            ):
                with pytest.raises(
                    InvalidStrategy, match=r"hippo1?: corpus '[^']*' has no vectors of facts .*pattern\+llm"
                ):
                    await evaluated(container, replace(refused, limit=2))
            assert not server.calls
            asked = Experiment(searchers=(), reasoners=("par:review=false,fine=hippo1",), limit=1)
            assert [row.error for row in (await evaluated(container, asked)).answers] == [None]


async def test_a_searcher_that_fails_has_a_row_for_every_question(ready: Container) -> None:
    """A question that is too long is refused by the use case; it scores nothing and is counted."""
    file = ready.settings.data_dir / "long.jsonl"
    long = "why " * 6000
    file.write_text('{"id": "q", "question": "' + long + '", "answer": "x", "supporting": ["p01023"]}\n')
    result = await evaluated(ready, Experiment(searchers=("sparse",), questions=file, reasoners=("extractive",)))
    (row,) = result.searches
    assert row.error is not None
    assert "characters" in row.error
    assert result.searchers["sparse"].failed == 1
    assert result.reasoners["extractive"]["failed"] == 1


def write_collection(folder: Path) -> Path:
    """The passages of the example, and three of its questions with grades in place of answers."""
    folder.mkdir()
    (folder / "corpus.jsonl").write_bytes((EXAMPLE / "corpus.jsonl").read_bytes())
    rows = [json.loads(line) for line in (EXAMPLE / "questions.jsonl").read_text(encoding="utf-8").splitlines()[:3]]
    graded = [
        {"id": row["id"], "question": row["question"], "grades": {key: 2 - place % 2 for place, key in enumerate(keys)}}
        for row in rows
        if (keys := row["supporting"])
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in graded), encoding="utf-8")
    return folder


async def test_searchers_are_measured_on_grades_and_reasoners_are_refused(
    container: Container, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_collection(tmp_path / "collection")

    async def measured(experiment: Experiment) -> Result:
        return await run_experiment(container, WorkerHere(), folder, experiment, lambda *_: None)

    with pytest.raises(InvalidInput, match=r"3 of 3 questions have no `answer`, .* measure searchers alone: hopweave"):
        await measured(Experiment(searchers=("sparse",), reasoners=("extractive",)))
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(InvalidSettings, match=r"hopweave\[eval\]"):
        await measured(Experiment(searchers=("sparse",)))
    monkeypatch.undo()
    assert not await container.record.corpora.list()
    result = await measured(Experiment(searchers=("sparse", "fused")))
    plain = await evaluated(container, Experiment(searchers=("sparse", "fused"), limit=3))
    for name, scores in result.searchers.items():
        assert scores.means["recall@10"] == plain.searchers[name].means["recall@10"]
        assert 0 < (scores.means["ndcg@10"] or 0) <= 1
        assert (scores.means["recall@100"] or 0) >= (scores.means["recall@10"] or 0)
    assert all(len(row.ranking) > 10 for row in result.searches if row.searcher == "fused")
