"""`--no-embedding` and `--no-graph`, on the command line."""

from contextlib import nullcontext
from pathlib import Path

import pytest

import app.container.adapters
from core.settings import EmbeddingSettings
from tests.integration.cli.conftest import Hopweave, working
from tests.integration.cli.test_folder_server import serving
from tests.twins.embedder import TwinEmbedder

QUERY = "Who wrote the first program?"


@pytest.mark.usefixtures("worker")
def test_an_ingest_makes_a_corpus_without_vectors(hopweave: Hopweave, papers: Path) -> None:
    assert hopweave("ingest", papers, "-c", "words", "--no-embedding").code == 0
    assert "none (no vectors)" in hopweave("corpora", "show", "words").out
    assert hopweave("corpora", "show", "words", "--json").json["embedding"] == {"model": "none", "dimension": 0}
    assert "Ada Lovelace" in hopweave("search", QUERY, "-c", "words").out
    assert "Ada Lovelace" in hopweave("ask", QUERY, "-c", "words", "--reasoner", "extractive").out
    refused = hopweave("search", QUERY, "-c", "words", "--searcher", "dense")
    assert (refused.code, refused.err.count("\n")) == (2, 1), refused
    assert "reindex words --embedding" in refused.err
    doctor = hopweave("doctor")
    assert "corpus words" in doctor.out
    assert "missing" not in doctor.out
    assert hopweave("corpora", "reindex", "words", "--embedding", "twin").code == 0
    assert hopweave("search", QUERY, "-c", "words", "--searcher", "dense").code == 0
    taken = hopweave("ingest", papers, "-c", "words", "--no-embedding")
    assert taken.code != 0
    assert "reindex words --no-embedding" in taken.err


SMALL = "sentence-transformers:small"


def _make_twin(settings: EmbeddingSettings) -> TwinEmbedder:
    return TwinEmbedder(model=settings.model, dimension=32 if settings.model == "small" else 64)


@pytest.mark.parametrize("at_server", [False, True])
def test_an_ingest_chooses_the_model_of_a_new_corpus(
    hopweave: Hopweave, papers: Path, at_server: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.container.adapters, "make_embedder", _make_twin)
    monkeypatch.setenv("HOPWEAVE_EMBEDDING__OFFERED", f'["{SMALL}", "openai:other"]')
    with working(), serving() if at_server else nullcontext() as url:
        target = ("--server", url) if url else ()
        for _ in range(2):
            ingested = hopweave("ingest", papers, "-c", "p", "--embedding", SMALL, *target)
            assert ingested.code == 0, ingested.err
        shown = hopweave("corpora", "show", "p", "--json").json["embedding"]
        assert shown == {"model": "small", "dimension": 32}
        for other, left_out in (("openai:other", "--embedding openai:other"), ("none", "--no-embedding")):
            refused = hopweave("ingest", papers, "-c", "p", "--embedding", other, *target)
            assert (refused.code, refused.err.count("\n")) == (1, 1), refused
            assert f"corpus 'p' has vectors of 'small': leave {left_out} out" in refused.err
        assert hopweave("ingest", papers, "-c", "words", "--no-embedding", *target).code == 0
        refused = hopweave("ingest", papers, "-c", "words", "--embedding", SMALL, *target)
        assert (refused.code, "corpus 'words' has no vectors: leave" in refused.err) == (1, True), refused


@pytest.mark.usefixtures("worker")
def test_a_corpus_without_a_graph(hopweave: Hopweave, papers: Path) -> None:
    assert hopweave("ingest", papers, "-c", "plain", "--no-graph").code == 0
    shown = hopweave("corpora", "show", "plain", "--json").json
    assert (shown["extractor"], shown["counts"]["entities"]) == ("none", 0)
    assert "none (no graph)" in hopweave("corpora", "show", "plain").out
    assert "Ada Lovelace" in hopweave("search", QUERY, "-c", "plain").out
    assert "graph: the corpus knows no name" not in str(
        hopweave("search", "Which weather?", "-c", "plain", "--explain")
    )
    assert hopweave("corpora", "reindex", "plain", "--extractor", "pattern").code == 0
    assert hopweave("corpora", "show", "plain", "--json").json["counts"]["entities"] > 0
    assert "graph: the corpus knows no name" in str(hopweave("search", "Which weather?", "-c", "plain", "--explain"))
    assert "note:" not in str(hopweave("search", "Which weather?", "-c", "plain"))


@pytest.mark.parametrize(
    "options", [("--no-embedding", "--embedding", "twin"), ("--no-graph", "--extractor", "pattern")]
)
def test_options_that_contradict_one_another(hopweave: Hopweave, options: tuple[str, ...]) -> None:
    refused = hopweave("corpora", "create", "people", *options)
    assert (refused.code, refused.err.count("\n")) == (2, 1), refused
    assert "contradict" in refused.err
