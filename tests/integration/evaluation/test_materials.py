"""The benchmark of materials on the example corpus: rows of each searcher, and what its peers are given and answer."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from app.container import Container
from core.corpora import Corpus
from evaluation import index_dataset, read_dataset
from tests.benchmarks.materials import beside
from tests.benchmarks.materials.gold import DocumentNeed, PassageNeed, Question
from tests.benchmarks.materials.kinds import Kind, Sources
from tests.benchmarks.materials.measuring import DEPTH, SEARCHERS, Asked, checks, measure, prepare, table
from tests.benchmarks.materials.peers.exchange import Answers, read_material
from tests.benchmarks.materials.peers.running import PeerRuns
from tests.benchmarks.materials.typed import Passage
from tests.benchmarks.workshop import silent
from tests.integration.evaluation.workbench import EXAMPLE, WorkerHere

DATASET = read_dataset(EXAMPLE)


async def _index(shop: Any, _: Sources) -> Corpus:
    corpus, _ = await index_dataset(
        shop.container, shop.supervision, DATASET, chunker="passage", extractor="pattern", progress=silent
    )
    return corpus


def _ask_documents(_: Sources, __: Sequence[Passage]) -> list[Question]:
    return [
        Question(id=one.id, text=one.text, needs=tuple(DocumentNeed(key=need.key) for need in one.supporting))
        for one in DATASET.questions[:3]
    ]


def _ask_first_words(_: Sources, passages: Sequence[Passage]) -> list[Question]:
    """Asks for the passages whose title is the same as the one of the first, by this title."""
    title = passages[0].title
    chunks = frozenset(one.id for one in passages if one.title == title)
    return [Question(id="title", text=title, needs=(PassageNeed(chunks=chunks),), depth=3)]


KINDS = (
    Kind(name="questions", group="example", index=_index, ask=_ask_documents),
    Kind(name="typed, titles", group="example", index=_index, ask=_ask_first_words),
)


async def prepared(container: Container, folder: Path) -> list[Asked]:
    shop: Any = SimpleNamespace(container=container, supervision=WorkerHere())
    return [await prepare(shop, Sources(datasets=folder, cache=folder), kind) for kind in KINDS]


async def test_each_searcher_has_a_row_for_each_question(container: Container, tmp_path: Path) -> None:
    asked = await prepared(container, tmp_path)
    assert [len(one.passages) for one in asked] == [99, 99]
    ids = [chunk.id for chunk, _ in asked[0].passages]
    assert ids == sorted(set(ids))
    assert all(chunk.document_id == document.id for chunk, document in asked[0].passages)
    rows = [row for one in asked for row in await measure(container, one)]
    assert [(row["kind"], row["searcher"], row["question"]) for row in rows] == [
        (one.kind, searcher, question.id) for one in asked for searcher in SEARCHERS for question in one.questions
    ]
    assert all(0 <= row["score"] <= 1 and 0 <= row["rr"] <= 1 and row["ms"] > 0 for row in rows)
    titles = {row["searcher"]: (row["score"], row["rr"]) for row in rows if row["kind"] == "typed, titles"}
    assert {score for score, _ in titles.values()} == {1}, titles
    assert titles["bridged"] == (1, 1)
    assert len(checks(rows)) == 2 + 1 + 1 + len(SEARCHERS)
    assert len(table(rows).splitlines()) == 4


async def test_peers_are_given_chunks_vectors_and_questions_of_the_corpus(container: Container, tmp_path: Path) -> None:
    asked = await prepared(container, tmp_path)
    await beside.export(container, asked, tmp_path / "new" / "folder")
    material = read_material(tmp_path / "new" / "folder")
    passages = asked[0].passages
    assert [chunk.id for chunk in material.chunks] == [chunk.id for chunk, _ in passages]
    assert [(chunk.title, chunk.heading, chunk.text) for chunk in material.chunks] == [
        (document.title, chunk.heading, chunk.text) for chunk, document in passages
    ]
    assert [question.text for question in material.questions] == [
        question.text for one in asked for question in one.questions
    ]
    embedder = container.embedders.of(asked[0].corpus)
    expected = await embedder.embed_passages([chunk.content for chunk in material.chunks])
    np.testing.assert_allclose(material.vectors, expected, atol=0.01)  # stored as float16
    queries = [await embedder.embed_query(question.text) for question in material.questions]
    np.testing.assert_allclose(material.question_vectors, np.stack(queries), atol=1e-6)


async def test_answers_of_a_peer_are_rows_of_the_kinds_that_asked(
    container: Container, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The peer finds what each question needs at the second place, and nothing for one question."""
    asked = await prepared(container, tmp_path)
    by_key = {document.key: chunk.id for chunk, document in asked[0].passages}
    all_needed = [
        *([by_key[one.key] for one in question.supporting] for question in DATASET.questions[:3]),
        [chunk.id for chunk, document in asked[0].passages if document.title == asked[1].questions[0].text],
    ]

    def answer(folder: Path, _: Path, *, k: int) -> PeerRuns:
        assert k == DEPTH
        material = read_material(folder)
        rankings = []
        for needed in all_needed:
            other = next(chunk.id for chunk in material.chunks if chunk.id not in needed)
            rankings.append([other, *needed])
        rankings[1] = []
        answers = Answers(
            peer="txtai",
            version="1",
            index_seconds=0.1,
            rankings=dict(zip([question.id for question in material.questions], rankings, strict=True)),
            milliseconds=[1.0, 2.0, 3.0, 4.0],
        )
        return PeerRuns(answers={"txtai": answers}, failures={"haystack": "not installed"})

    monkeypatch.setattr(beside, "run_peers", answer)
    rows = await beside.measure_peers(container, asked, tmp_path / "peers")
    assert [(row["kind"], row["searcher"], row["question"], row["ms"]) for row in rows] == [
        *(("questions", "txtai", question.id, ms) for question, ms in zip(asked[0].questions, (1, 2, 3), strict=True)),
        ("typed, titles", "txtai", "title", 4),
    ]
    assert [(row["score"], row["rr"]) for row in rows] == [(1, 0.5), (0, 0), (1, 0.5), (1, 0.5)]
