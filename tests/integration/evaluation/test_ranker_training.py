"""Training a ranker: what it learns, what it refuses, and that it can be done again."""

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.console import Console

from app.container import Container
from core.errors import InvalidInput, InvalidSettings, NotFound
from evaluation import (
    TrainedRanker,
    Training,
    TrainingSet,
    build_ranker_table,
    check_training_libraries,
    gather_training_set,
    read_dataset,
    read_training_datasets,
    train_ranker,
)
from retrieval.bridged.ranker import read_ranker
from retrieval.bridged.training import RECIPES, TrainingQuestion
from tests.integration.evaluation.townsfolk import write_townsfolk
from tests.integration.evaluation.workbench import WorkerHere

CANDIDATES = 60
Rule = Callable[[np.random.Generator], tuple[NDArray[np.float64], list[int]]]


def nothing(stage: str, done: int, total: int) -> None:
    assert done <= total, stage


def planted(rng: np.random.Generator) -> tuple[NDArray[np.float64], list[int]]:
    """Stage 1 finds one of two that support; a title leads to both, and to few others."""
    features = rng.random((CANDIDATES, 6)) * 0.2
    supporting = [0, int(rng.integers(10, CANDIDATES))]
    features[:, 0] = 5 / (5 + np.arange(CANDIDATES))
    features[[*supporting, int(rng.integers(1, CANDIDATES))], 1] = 1.0
    return features, supporting


def noise(rng: np.random.Generator) -> tuple[NDArray[np.float64], list[int]]:
    """Stage 1 has both at the top, and no feature knows."""
    return rng.random((CANDIDATES, 6)), [0, 1]


def synthetic(folder: Path, rule: Rule, questions: int = 24) -> TrainingSet:
    """The dataset of the folder, as if its candidates were such."""
    write_townsfolk(folder, people=questions)
    rng = np.random.default_rng(7)
    made = []
    for _ in range(questions):
        features, supporting = rule(rng)
        made.append(
            TrainingQuestion(
                chunks=np.arange(CANDIDATES),
                features=features,
                place=np.arange(CANDIDATES),
                supports=tuple(np.array([at]) for at in supporting),
            )
        )
    return TrainingSet(dataset=read_dataset(folder), questions=tuple(made))


def trained(*sets: TrainingSet, training: Training | None = None) -> TrainedRanker:
    return train_ranker(sets, training or Training(recipe="six"), embedding_model="twin", progress=nothing)


async def gathered(container: Container, folder: Path, recipe: str, chunker: str = "passage") -> TrainingSet:
    return await gather_training_set(
        container,
        WorkerHere(),
        read_dataset(folder),
        features=RECIPES[recipe].features,
        extractor="pattern",
        chunker=chunker,
        progress=nothing,
    )


def test_a_signal_is_learned_and_beats_stage_1(tmp_path: Path) -> None:
    result = trained(synthetic(tmp_path / "towns", planted))
    (judged,) = result.judgements
    assert judged.stage1 == 0.5
    assert judged.ranker > 0.95
    assert judged.difference.low > 0.4
    assert judged.transferred is None
    assert result.gains
    ranker = read_ranker(result.file)
    assert ranker.weights[ranker.features.index("bridge_title")] > 0


def test_what_no_feature_knows_is_no_gain(tmp_path: Path) -> None:
    result = trained(synthetic(tmp_path / "towns", noise))
    assert result.judgements[0].stage1 == 1.0
    assert result.difference.mean < 0
    assert not result.gains


def test_several_sets_are_judged_each_also_by_the_others(tmp_path: Path) -> None:
    result = trained(synthetic(tmp_path / "a", planted), synthetic(tmp_path / "b", planted, 30))
    assert [(one.dataset, one.questions) for one in result.judgements] == [("a", 24), ("b", 30)]
    assert all(one.transferred is not None and one.transferred > 0.95 for one in result.judgements)
    first, last = result.judgements
    together = (24 * first.difference.mean + 30 * last.difference.mean) / 54
    assert result.difference.mean == pytest.approx(together)


def test_the_table_shows_every_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In eighty columns, with names as long as those of the shipped rankers' sets."""
    names = "musique-train-100", "hotpotqa-train-100"
    result = trained(*(synthetic(tmp_path / name, planted) for name in names))
    Console(width=80).print(build_ranker_table(result))
    shown = capsys.readouterr().out
    assert "the others" in shown
    rows = {line.split()[0]: line.split() for line in shown.splitlines()[2:]}
    for one in result.judgements:
        assert rows[one.dataset][1:4] == ["24", "50.0", f"{100 * one.ranker:.1f}"]
        assert rows[one.dataset][-1] == f"{100 * (one.transferred or 0):.1f}"
    assert rows["all"][1:4] == ["questions", "48", "50.0"]


def test_the_file_says_where_it_comes_from(tmp_path: Path) -> None:
    training = Training(recipe="six", seed=3, licences=("Towns, CC0",))
    result = trained(synthetic(tmp_path / "towns", planted), training=training)
    provenance = read_ranker(result.file).provenance
    questions = hashlib.sha256((tmp_path / "towns" / "questions.jsonl").read_bytes()).hexdigest()
    (source,) = provenance["trained_on"]
    assert len(source["question_hashes"].split()) == 24
    assert (source["dataset"], source["questions"]) == ("towns", 24)
    assert set(source["sha256"]) == {"corpus.jsonl", "questions.jsonl"}
    assert source["sha256"]["questions.jsonl"] == questions
    assert provenance["licence"] == ["Towns, CC0"]
    assert provenance["command"] == (
        "hopweave train-ranker towns --recipe six --extractor pattern --chunker passage --folds 5 --seed 3 "
        "--licence 'Towns, CC0'"
    )
    assert (provenance["recipe"]["name"], provenance["recipe"]["seed"]) == ("six", 3)
    assert tuple(provenance["recipe"]["features"]) == RECIPES["six"].features
    judged = result.judgements[0]
    assert provenance["cross_validation"] == {
        "towns": {
            "stage1": 0.5,
            "ranker": round(judged.ranker, 4),
            "difference": [round(judged.difference.low, 4), round(judged.difference.high, 4)],
        }
    }
    assert (provenance["embedding_model"], provenance["extractor"], provenance["chunker"]) == (
        "twin", "pattern", "passage",
    )  # fmt: skip
    assert provenance["made_by"].startswith("hopweave ")
    assert provenance["lightgbm"] is None
    assert str(tmp_path) not in result.file


async def test_the_same_data_and_seed_give_the_same_file(container: Container, tmp_path: Path) -> None:
    """Through the stores, with trees; another seed gives another file."""
    write_townsfolk(tmp_path / "towns", people=20)
    one = await gathered(container, tmp_path / "towns", "full")
    again = await gathered(container, tmp_path / "towns", "full")
    training = Training(folds=2)
    first = trained(one, training=training)
    assert first.file == trained(again, training=training).file
    assert first.file != trained(one, training=Training(folds=2, seed=1)).file
    assert read_ranker(first.file).trees is not None
    assert json.loads(first.file)["provenance"]["lightgbm"]


async def test_candidates_come_from_the_corpus_and_know_what_supports(container: Container, tmp_path: Path) -> None:
    write_townsfolk(tmp_path / "towns", people=20)
    found = await gathered(container, tmp_path / "towns", "six")
    assert len(found.questions) == 20
    for question in found.questions:
        assert question.features.shape == (len(question.chunks), 6)
        assert sorted(question.place.tolist()) == list(range(len(question.chunks)))
        assert [len(places) for places in question.supports] == [1, 1]
        assert question.supporting.sum() == 2


async def test_a_span_is_supported_by_the_chunks_that_overlap_it(container: Container, tmp_path: Path) -> None:
    folder = tmp_path / "long"
    folder.mkdir()
    sentences = [f"Sentence {number} tells of lighthouse number {number} in the harbour. " for number in range(60)]
    text = "".join(sentences)
    at = text.index(sentences[40])
    support = {"id": "all", "start": at, "end": at + 10}
    (folder / "corpus.jsonl").write_text(json.dumps({"id": "all", "title": "Lights", "text": text}) + "\n")
    (folder / "questions.jsonl").write_text(
        json.dumps({"id": "q", "question": "lighthouse number 40?", "answer": "40", "supporting": [support]}) + "\n"
    )
    found = await gathered(container, folder, "six", chunker="sentences")
    (question,) = found.questions
    assert len(question.chunks) > 2
    assert 1 <= question.supporting.sum() < len(question.chunks)


async def test_a_dataset_without_anything_to_learn_is_named(container: Container, tmp_path: Path) -> None:
    """Its questions are supported by the one passage that no signal ranks among the first hundred."""
    folder = tmp_path / "blank"
    folder.mkdir()
    passages = [{"id": f"p{n}", "title": "", "text": f"gardens bloom in spring {n}"} for n in range(130)]
    passages.append({"id": "far", "title": "", "text": "xyzzy qwfpg"})
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, passages)))
    asked = [
        {"id": f"q{n}", "question": "what blooms in spring gardens", "answer": "x", "supporting": ["far"]}
        for n in range(2)
    ]
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, asked)))
    with pytest.raises(InvalidInput, match=r"blank: no question has a passage that supports it among its candidates"):
        await gathered(container, folder, "six")


def test_too_few_questions_are_counted(tmp_path: Path) -> None:
    write_townsfolk(tmp_path / "a", people=9)
    write_townsfolk(tmp_path / "b", people=10)
    with pytest.raises(InvalidInput, match=r"a, b: 19 questions are too few .* at least 20"):
        read_training_datasets([tmp_path / "a", tmp_path / "b"])
    write_townsfolk(tmp_path / "b", people=11)
    assert len(read_training_datasets([tmp_path / "a", tmp_path / "b"])) == 2


def test_a_folder_is_named_once(tmp_path: Path) -> None:
    write_townsfolk(tmp_path / "a", people=20)
    (tmp_path / "x").mkdir()
    with pytest.raises(InvalidInput, match="two datasets are called 'a'"):
        read_training_datasets([tmp_path / "a", tmp_path / "x" / ".." / "a"])


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        read_training_datasets([tmp_path / "nowhere"])


def test_without_lightgbm_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lightgbm", None)  # as Python itself marks what cannot be imported
    check_training_libraries(RECIPES["six"])
    with pytest.raises(InvalidSettings, match=r"lightgbm.*pip install 'hopweave\[train\]'"):
        check_training_libraries(RECIPES["full"])
