"""Passages of the part that a question names rank higher, and those of other parts lower."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

import numpy as np
import pytest

from core.corpora import Corpus, CorpusSettings, Fine
from core.documents import Chunk, DocumentRef
from core.ports.retrieval import Query
from retrieval.backends import RetrievalBackends
from retrieval.candidates.named_parts import weigh_named_parts
from tests.unit.retrieval.bridged.builders import Said, corpus, document

SAID = (
    Said(document="log", heading="Batch C", text="Dried for 6 hours."),
    Said(document="log", heading="Batch D", text="Dried for 9 hours."),
    Said(document="log", heading="Remarks", text="Batch C was sold."),
)
_SETTINGS = CorpusSettings(chunker="passage", extractor="pattern", fine=Fine.OFF, embedding_model="", dimension=0)
_CORPUS = Corpus(id="c", name="c", settings=_SETTINGS, generation=1, created_at=datetime(2026, 1, 1, tzinfo=UTC))


@dataclass
class _Record:
    """The chunks of a record, as their documents and contents."""

    chunks: Mapping[str, Chunk]

    async def get_chunks(self, _: str, ids: Collection[str]) -> Mapping[str, Chunk]:
        return {id: self.chunks[id] for id in ids}

    async def get_refs(self, _: str, ids: Collection[str]) -> Mapping[str, DocumentRef]:
        return {id: DocumentRef(id=id, key="log.md", title="Kiln log", metadata={}) for id in ids}


@dataclass
class _Backends:
    contents: _Record
    documents: _Record


@pytest.mark.parametrize(
    ("question", "signs"),
    [
        ("How long was batch C dried?", [1, -1, 0]),
        ("How long were batch C and D dried?", [1, 1, 0]),
        ("How long was batch E dried?", [0, 0, 0]),
        ("How long was it dried?", [0, 0, 0]),
    ],
)
def test_passages_of_the_named_part_gain(question: str, signs: list[int]) -> None:
    snapshot = corpus(*SAID)
    ids = snapshot.chunk_ids(range(len(SAID)))
    chunks = {
        id: Chunk(
            id=id,
            document_id=document("log"),
            view_id=id,
            position=number,
            text=said.text,
            heading=said.heading,
            page=None,
            span=None,
        )
        for number, (id, said) in enumerate(zip(ids, SAID, strict=True))
    }
    backends = cast("RetrievalBackends", _Backends(_Record(chunks), _Record(chunks)))
    query = Query(corpus=_CORPUS, text=question)
    added = asyncio.run(weigh_named_parts(backends, query, snapshot, np.arange(3), np.array([3.0, 2.0, 1.0])))
    assert np.sign(added).tolist() == signs
