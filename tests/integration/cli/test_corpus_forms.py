"""`--no-embedding` and `--no-graph`, on the command line."""

from pathlib import Path

import pytest

from tests.integration.cli.conftest import Hopweave

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


@pytest.mark.usefixtures("worker")
def test_a_corpus_without_a_graph(hopweave: Hopweave, papers: Path) -> None:
    assert hopweave("ingest", papers, "-c", "plain", "--no-graph").code == 0
    shown = hopweave("corpora", "show", "plain", "--json").json
    assert (shown["extractor"], shown["counts"]["entities"]) == ("none", 0)
    assert "none (no graph)" in hopweave("corpora", "show", "plain").out
    assert "Ada Lovelace" in hopweave("search", QUERY, "-c", "plain").out
    assert hopweave("corpora", "reindex", "plain", "--extractor", "pattern").code == 0
    assert hopweave("corpora", "show", "plain", "--json").json["counts"]["entities"] > 0


@pytest.mark.parametrize(
    "options", [("--no-embedding", "--embedding", "twin"), ("--no-graph", "--extractor", "pattern")]
)
def test_options_that_contradict_one_another(hopweave: Hopweave, options: tuple[str, ...]) -> None:
    refused = hopweave("corpora", "create", "people", *options)
    assert (refused.code, refused.err.count("\n")) == (2, 1), refused
    assert "contradict" in refused.err
