"""What a worker holds of a long text, and for how long."""

import gc
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.graph import Mention
from core.ports.indexing import DraftChunk, LoadedDocument
from core.ports.record import Claim, Commit
from indexer import Worker
from stores.sqlite.changes import log
from stores.sqlite.commit.chunks import insert_graph
from stores.sqlite.commit.effects import SqliteCommitEffects
from stores.sqlite.database import SqliteDatabase
from tests.desk import OPTIONS, CountingEmbedder, Desk

_SENTENCE = "In {} Ada Lovelace and Charles Babbage saw the engine in London."
_BYTES = 40  # for each row: less than a row of parameters takes


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


def test_mentions_are_inserted_without_a_copy_of_their_rows(tmp_path: Path) -> None:
    few, many = (_peak_of_mentions(tmp_path / f"{count}.sqlite", count) for count in (10_000, 20_000))
    assert many - few < 10_000 * _BYTES


def test_changes_are_logged_without_a_copy_of_their_rows(tmp_path: Path) -> None:
    few, many = (_peak_of_log(tmp_path / f"{count}.sqlite", count) for count in (10_000, 20_000))
    assert many - few < 10_000 * _BYTES


def _peak_of_mentions(path: Path, count: int) -> int:
    claim = Claim(
        corpus_id="c",
        document_id="d",
        key="d",
        revision=1,
        epoch=1,
        deletion=False,
        media_type="text/plain",
        content_hash="",
        size=0,
        title=None,
        metadata={},
    )
    mentions = tuple(
        Mention(chunk_id=f"chunk {n}", entity_id="ada", name="ada", form="Ada", count=1) for n in range(count)
    )
    chunks = {mention.chunk_id for mention in mentions}
    commit = Commit(claim=claim, mentions=mentions)
    return _peak(path, lambda cx: insert_graph(cx, commit, chunks, SqliteCommitEffects("c")))


def _peak_of_log(path: Path, count: int) -> int:
    ids = [f"chunk {n}" for n in range(count)]
    return _peak(path, lambda cx: log(cx, "c", 1, "chunk", "put", ids))


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
