"""Limits of one document: it fails by name, and the others are indexed."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.documents import RevisionState
from indexer import DocumentLimits, Worker
from tests.desk import OPTIONS, Desk

_LONG = " ".join(f"In {n} Ada Lovelace and Charles Babbage saw the engine in London." for n in range(200))


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (DocumentLimits(content=1000), "at most 1,000 are indexed as one document; split it, or raise HOPWEAVE"),
        (DocumentLimits(chunks=2), "passages, and at most 2 are indexed of one document; split it, or raise"),
        (DocumentLimits(seconds=1e-9), "raise HOPWEAVE_WORKER__DOCUMENT_SECONDS"),
    ],
)
async def test_a_document_beyond_a_limit_fails_by_name_and_the_others_are_indexed(
    tmp_path: Path, limits: DocumentLimits, reason: str
) -> None:
    desk = Desk(tmp_path)
    corpus = await desk.corpus()
    beside = [] if limits.seconds < 1 else [{"id": "a", "text": "One."}, {"id": "z", "text": "Two."}]
    await desk.queue(corpus, {"id": "long", "text": _LONG}, *beside)
    await Worker("w", desk.backends, replace(OPTIONS, document=limits)).work(corpus.id)
    found = {one.key: one for one in (await desk.record.documents.list(corpus.id, limit=5)).data}
    await desk.close()
    document = found.pop("long")
    assert document.state is RevisionState.FAILED
    assert document.reason is not None
    assert document.reason.startswith("'long' ")
    assert reason in document.reason
    assert [(key, one.state) for key, one in found.items()] == [(one["id"], RevisionState.INDEXED) for one in beside]


async def test_slices_give_what_the_whole_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a later slice repeats a passage of an earlier one, whose extraction they share."""
    exports = []
    repeated = {"id": "long", "text": "\n\n".join([_LONG[:6000]] * 3)}
    for slice_ in (7, 100_000):
        monkeypatch.setattr("indexer.pipeline.preparation._CHUNKS_AT_ONCE", slice_)
        desk = Desk(tmp_path / str(slice_))
        corpus = await desk.corpus(extractor="pattern")
        await desk.ingest(corpus, repeated)
        exports.append(await desk.export(corpus))
        await desk.close()
    assert exports[0] == exports[1]
    assert exports[0].count("Ada Lovelace") > 50
