"""Replacing a long document of which little has changed: the result of a fresh ingest, and little work."""

import random
import sqlite3
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from core.ids import document_id
from indexer.extractors.pattern import PatternExtractor
from indexer.pipeline import preparation
from tests.benchmarks.documents.prose import make_sentence, make_sentences, make_text
from tests.desk import Desk

_COUNTING = """
CREATE TABLE writes (n);
CREATE TRIGGER inserted AFTER INSERT ON chunk_rows BEGIN INSERT INTO writes VALUES (1); END;
CREATE TRIGGER updated AFTER UPDATE ON chunk_rows BEGIN INSERT INTO writes VALUES (1); END;
CREATE TRIGGER deleted AFTER DELETE ON chunk_rows BEGIN INSERT INTO writes VALUES (1); END;
"""


def document(sentences: list[str], paragraphs_of_a_chapter: int) -> dict[str, Any]:
    media_type = "text/markdown" if paragraphs_of_a_chapter else "text/plain"
    return {"id": "report", "media_type": media_type, "text": make_text(sentences, paragraphs_of_a_chapter)}


@pytest.mark.parametrize("paragraphs_of_a_chapter", [0, 12])
async def test_a_replaced_document_is_as_if_it_were_new(desk: Desk, paragraphs_of_a_chapter: int) -> None:
    random_ = random.Random(4)
    sentences = list(islice(make_sentences(4), 300))
    lived = await desk.corpus("lived")
    await desk.ingest(lived, document(sentences, paragraphs_of_a_chapter))
    chunks = desk.embedder.embedded
    for number in range(2):
        sentences[random_.randrange(len(sentences))] = make_sentence(random_)
        desk.embedder.embedded = 0
        await desk.ingest(lived, document(sentences, paragraphs_of_a_chapter))
        assert 0 < desk.embedder.embedded < chunks / 3
        fresh = await desk.corpus(f"fresh-{number}")
        await desk.ingest(fresh, document(sentences, paragraphs_of_a_chapter))
        assert await desk.export(lived) == await desk.export(fresh)
        assert await desk.view_ids(lived) == await desk.view_ids(fresh)


async def test_chunks_that_stay_are_not_written_again_and_those_that_move_have_new_places(
    desk: Desk, tmp_path: Path
) -> None:
    sentences = list(islice(make_sentences(4), 300))
    corpus = await desk.corpus()
    await desk.ingest(corpus, document(sentences, 0))
    chunks = desk.embedder.embedded
    with closing(sqlite3.connect(tmp_path / "record.db")) as connection:
        connection.executescript(_COUNTING)
        sentences[-1] = "The last sentence is another one."
        await desk.ingest(corpus, document(sentences, 0))
        [written] = connection.execute("SELECT count(*) FROM writes").fetchone()
    assert 0 < written < chunks / 3
    sentences[0] = "Short."
    changed = document(sentences, 0)
    await desk.ingest(corpus, changed)
    moved = await desk.record.contents.get_chunks_of(corpus.id, document_id("report"))
    assert len(moved) > 10
    assert [chunk.position for chunk in moved] == list(range(len(moved)))
    for chunk in moved:
        assert chunk.span is not None
        assert changed["text"][chunk.span.start : chunk.span.end] == chunk.text


async def test_extractions_of_a_long_document_are_not_made_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "_CHUNKS_AT_ONCE", 8)
    made: list[int] = []
    extract = PatternExtractor.extract

    async def count(self: PatternExtractor, document: Any, chunks: Any, wanted: Any, *more: Any) -> Any:
        made.append(len(wanted))
        return await extract(self, document, chunks, wanted, *more)

    monkeypatch.setattr(PatternExtractor, "extract", count)
    sentences = list(islice(make_sentences(4), 300))
    corpus = await desk.corpus()
    await desk.ingest(corpus, document(sentences, 0))
    chunks, made[:] = sum(made), []
    assert chunks > 50
    sentences[150] = "It rained all day."
    await desk.ingest(corpus, document(sentences, 0))
    assert 0 < sum(made) < chunks / 4
