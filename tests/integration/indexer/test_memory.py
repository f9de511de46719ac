"""What a worker holds of a long text, and for how long."""

import gc
import secrets
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from core.documents import Chunk, RevisionState, Submission
from core.graph import Mention
from core.ids import chunk_id, entity_id
from core.ports.indexing import DraftChunk, LoadedDocument
from core.ports.record import ChunkRow, Claim, Commit
from indexer import DocumentLimits, Worker
from indexer.chunking import pieces
from indexer.pipeline import preparation, prepared_revision
from models.embedding.tokens import EstimatedTokens
from stores.sqlite.changes import log_chunks
from stores.sqlite.database import Connection, SqliteDatabase
from stores.sqlite.record.commit_rows import insert_chunks, insert_graph, make_ready
from stores.sqlite.rows import make_corpus_number
from tests.benchmarks.documents.prose import make_sentence, make_text
from tests.desk import OPTIONS, CountingEmbedder, Desk

_SENTENCE = "In {} Ada Lovelace and Charles Babbage saw the engine in London."
_SHORT_STEPS = (
    (pieces, "_COUNTED_TOGETHER", 50_000),
    (preparation, "_CHUNKS_AT_ONCE", 64),
    (prepared_revision, "_ROWS_OF_A_BLOCK", 64),
)
"""What is worked on at once is a small part of the text, as it is of a text of many megabytes."""

_CHUNKS = 100
_DOCUMENT = """
    INSERT INTO document_rows (corpus, id, key, title, metadata, newest) VALUES (?, x'd0', 'd', '', '{}', 1)
"""
_ADA = entity_id("ada")
_BYTES = 40  # for each row: less than a row of parameters takes
_BYTES_OF_A_BYTE = 5.0
"""The memory that each byte of a text may take, where it takes two bytes for each character, and passages are short."""


class _Witness(CountingEmbedder):
    """Counts what is left of preparing when passages are embedded."""

    documents = 0
    drafts = 0

    async def embed_passages(self, texts: Sequence[str]) -> Any:
        objects = gc.get_objects()
        self.documents += sum(type(one) is LoadedDocument for one in objects)
        self.drafts += sum(type(one) is DraftChunk for one in objects)
        return await super().embed_passages(texts)


async def test_the_loaded_text_is_gone_when_its_chunks_are_embedded(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    gc.collect()
    witness = _Witness()
    corpus = await desk.corpus()
    await desk.queue(corpus, {"id": "long", "text": " ".join(_SENTENCE.format(n) for n in range(500))})
    await Worker("w", replace(desk.backends, embedder=witness), OPTIONS).work(corpus.id)
    await desk.close()
    assert witness.embedded > 10
    assert (witness.documents, witness.drafts) == (0, 0)


async def test_a_text_twice_as_long_takes_only_some_bytes_more_for_each_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name, value in _SHORT_STEPS:
        monkeypatch.setattr(module, name, value)
    random_ = Random(7)
    sentences = [f"Ada Lovelace saw {make_sentence(random_).partition(' saw ')[2]}" for _ in range(4_500)]
    sentences[0] = f"— {sentences[0]}"  # one such character, and each of the text takes two bytes
    desk = Desk(tmp_path)
    desk.backends = replace(desk.backends, embedder=_LongPassages())
    short, long = make_text(sentences[:2_250]), make_text(sentences)
    await _peak_of_ingest(desk, long)  # fills the caches of passages and paragraphs
    few, many = [await _peak_of_ingest(desk, text) for text in (short, long)]
    await desk.close()
    assert many - few < _BYTES_OF_A_BYTE * (len(long) - len(short))


class _LongPassages(CountingEmbedder):
    """Reads passages of a few sentences, and embeds them at once."""

    def __init__(self) -> None:
        super().__init__(dimension=8)
        self.tokens = EstimatedTokens(80)

    async def embed_passages(self, texts: Sequence[str]) -> Any:
        return np.eye(len(texts), self.dimension, dtype=np.float32) + np.float32(1e-3)


async def _peak_of_ingest(desk: Desk, text: str) -> int:
    """Returns the most bytes that Python holds while a worker indexes the text in a corpus of its own."""
    corpus = await desk.corpus(secrets.token_hex(4))
    await desk.submit(corpus, Submission(key="long.txt", content=text.encode(), media_type="text/plain"))
    worker = Worker("w", desk.backends, replace(OPTIONS, document=DocumentLimits(seconds=1_000)))
    gc.collect()
    tracemalloc.start()
    try:
        assert not await worker.work(corpus.id)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    [document] = (await desk.record.documents.list(corpus.id, limit=1)).data
    assert document.state is RevisionState.INDEXED
    return peak


@pytest.mark.parametrize("of", ["mentions", "log"])
def test_mentions_are_inserted_and_changes_logged_without_a_copy_of_their_rows(tmp_path: Path, of: str) -> None:
    peak_of = _peak_of_mentions if of == "mentions" else _peak_of_log
    few, many = (peak_of(tmp_path / f"{count}.sqlite", count) for count in (10_000, 20_000))
    assert many - few < 10_000 * _BYTES


def _peak_of_mentions(path: Path, count: int) -> int:
    claim = Claim(
        corpus_id="c", document_id="d0", key="d", revision=1, epoch=1, deletion=False, media_type="text/plain",
        content_hash="", size=0, title=None, metadata={},
    )  # fmt: skip
    mentions = tuple(
        Mention(chunk_id=_chunk_id(n % _CHUNKS), entity_id=_ADA, name="ada", form=f"Ada {n // _CHUNKS}", count=1)
        for n in range(count)
    )
    chunks = [_row(id) for id in sorted({mention.chunk_id for mention in mentions})]
    commit = Commit(claim=claim, mentions=mentions, chunks=chunks)

    def work(cx: Connection) -> None:
        corpus = make_corpus_number(cx, "c")
        cx.execute(_DOCUMENT, (corpus,))
        make_ready(cx, [commit])
        insert_graph(cx, corpus, insert_chunks(cx, corpus))
        assert cx.execute("SELECT count(*) FROM mentions").fetchone()[0] == count

    return _peak(path, work)


def _row(id: str) -> ChunkRow:
    chunk = Chunk(id=id, document_id="d0", view_id=id, position=0, text="", heading="", page=None, span=None)
    return ChunkRow(chunk=chunk, extract_hash="", tokens=1, terms=b"", title_names=())


def _peak_of_log(path: Path, count: int) -> int:
    ids = [_chunk_id(n) for n in range(count)]
    return _peak(path, lambda cx: log_chunks(cx, "c", 1, ids))


def _chunk_id(number: int) -> str:
    return chunk_id("long", str(number), 0)


def _peak(path: Path, work: Any) -> int:
    """Returns the most bytes that Python holds while `work` runs in a transaction."""
    database = SqliteDatabase(path)
    tracemalloc.start()
    try:
        database.write_now(work)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        database.close()
