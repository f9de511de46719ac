"""Embeddings that come with documents: their one form, what is refused, and the chunks that they belong to."""

import base64
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from core.corpora import CorpusSettings, Fine, check_embedded_by
from core.documents import EmbeddedBy
from core.errors import InvalidInput
from core.ports.indexing import Source
from indexer import loader_for, make_chunker, submission_from_json
from tests.twins.embedder import TwinEmbedder

MODEL = {"embedding_model": "twin"}
LONG = " ".join(f"Sentence {n} of a long text." for n in range(500))


def _base64(values: object) -> str:
    return base64.b64encode(np.array(values, "<f4").tobytes()).decode()


def test_every_way_of_writing_a_vector_gives_the_same_bytes() -> None:
    written: list[Any] = [[3.0, 0, 4], [3, 0, 4], (0.6, 0, 0.8), _base64([3, 0, 4]), _base64([0.6, 0, 0.8])]
    contents = {submission_from_json({"key": "a", "text": "A.", "embedding": one, **MODEL}).content for one in written}
    assert len(contents) == 1
    submission = submission_from_json({"key": "a", "text": "A.", "embedding": [3, 0, 4], **MODEL})
    assert submission.embedded_by == EmbeddedBy(model="twin", dimension=3)
    source = Source(key="a", content=submission.content, media_type=submission.media_type, title=None, metadata={})
    loaded = loader_for(submission.media_type).load(source)
    assert loaded.embedding_model == "twin"
    assert np.frombuffer(loaded.blocks[0].embedding, "<f4").tolist() == pytest.approx([0.6, 0, 0.8])


def test_a_document_without_embeddings_is_as_before() -> None:
    plain = submission_from_json({"key": "a", "text": "A."})
    assert plain.embedded_by is None
    assert submission_from_json({"key": "a", "text": "A.", **MODEL}).content == plain.content
    assert submission_from_json({"key": "a", "text": "A.", "embedding": None}).content == plain.content


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"text": "A.", "embedding": [1, 2]}, "needs `embedding_model`"),
        ({"text": "A.", "embedding": [], **MODEL}, "list of 1 to"),
        ({"text": "A.", "embedding": [1, "2"], **MODEL}, "list of 1 to"),
        ({"text": "A.", "embedding": [[1], [2]], **MODEL}, "list of 1 to"),
        ({"text": "A.", "embedding": [[1], [2, 3]], **MODEL}, "list of numbers"),
        ({"text": "A.", "embedding": [True], **MODEL}, "list of 1 to"),
        ({"text": "A.", "embedding": {"a": 1}, **MODEL}, "`embedding` must be"),
        ({"text": "A.", "embedding": [0, 0], **MODEL}, "only zeros"),
        ({"text": "A.", "embedding": _base64([1, np.inf]), **MODEL}, "not finite"),
        ({"text": "A.", "embedding": "?", **MODEL}, "not Base64"),
        ({"text": "A.", "embedding": "AAAA", **MODEL}, "holds 3 bytes"),
        ({"chunks": [{"text": "A."}], "embedding": [1], **MODEL}, "each of `chunks`"),
        ({"chunks": [{"text": "A.", "embedding": [1]}, {"text": "B.", "embedding": [1, 2]}], **MODEL}, "dimensions"),
        ({"chunks": [{"text": "A."}, {"text": "B.", "embedding": [0]}], **MODEL}, r"chunks\[1\].embedding"),
        ({"chunks": [{"text": "A.", "embedding": [1]}]}, "needs `embedding_model`"),
    ],
)
def test_what_is_no_embedding_is_refused_by_name(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        submission_from_json({"key": "a", **fields})


@pytest.mark.parametrize("chunker", ["passage", "sentences"])
def test_a_text_with_an_embedding_is_one_chunk(chunker: str) -> None:
    tokens = TwinEmbedder().tokens
    cuts = {}
    for embedding in ([1.0, 2.0], None):
        chunks = [{"text": "Short."}, {"text": LONG, "embedding": embedding}, {"text": " ", "embedding": embedding}]
        submission = submission_from_json({"key": "a", "chunks": chunks, **MODEL})
        source = Source(key="a", content=submission.content, media_type=submission.media_type, title=None, metadata={})
        loaded = loader_for(submission.media_type).load(source)
        cuts[embedding is None] = list(make_chunker(chunker).chunk(loaded, tokens))
    assert [chunk.text for chunk in cuts[False]] == ["Short.", LONG]
    assert cuts[False][1].tokens == tokens.count([LONG])[0]
    assert len(cuts[True]) > 2


@pytest.mark.parametrize(
    ("given", "message"), [(("twin", 8), ""), (("other", 8), "'other'.*'twin'"), (("twin", 9), "9 dimensions.* 8:")]
)
def test_a_corpus_takes_those_of_its_model(given: tuple[str, int], message: str) -> None:
    settings = CorpusSettings(chunker="passage", extractor="none", fine=Fine.AUTO, embedding_model="twin", dimension=8)
    by = EmbeddedBy(model=given[0], dimension=given[1])
    with pytest.raises(InvalidInput, match=message) if message else nullcontext():
        check_embedded_by(by, settings, "it", "people")
