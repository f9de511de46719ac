"""`hopweave ingest --budget-tokens`, `jobs resume`, and a dry run that tells what a language model would cost."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Hopweave, use_model
from tests.openie import openie
from tests.twins.chat_server import ChatServer


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    with ChatServer(respond=openie) as chat:
        use_model(monkeypatch, chat, CONCURRENCY="1")
        yield chat


def test_a_dry_run_tells_what_the_model_would_cost(
    chat: ChatServer, hopweave: Hopweave, papers: Path, tmp_path: Path
) -> None:
    ran = hopweave("ingest", papers, "-c", "p", "--extractor", "llm", "--dry-run", "--json")
    assert ran.code == 0, ran.err
    model = ran.json["model"]
    assert (model["calls"], model["seconds"]) == (2, 4.0)
    assert model["prompt_tokens"] > model["completion_tokens"] > 0
    assert model["assumptions"]
    shown = hopweave("ingest", papers, "-c", "p", "--extractor", "llm", "--dry-run")
    assert "2 calls" in shown.out
    assert "assumed: 4 characters a token" in shown.out
    assert chat.calls == []
    assert not (tmp_path / "data").exists()


def test_the_cost_is_said_before_the_model_is_called(
    chat: ChatServer, hopweave: Hopweave, request: pytest.FixtureRequest, papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `auto`, as Compose sets it, a configured model extracts by default."""
    monkeypatch.setenv("HOPWEAVE_EXTRACTOR", "auto")
    request.getfixturevalue("worker")
    estimated = hopweave("ingest", papers, "-c", "p", "--dry-run", "--json").json["model"]
    ran = hopweave("ingest", papers, "-c", "p")
    assert ran.code == 0, ran.err
    told = next(line for line in ran.err.splitlines() if line.startswith("extractor pattern+llm: about 2 calls of"))
    assert f"{estimated['prompt_tokens']:,} prompt and {estimated['completion_tokens']:,} completion tokens" in told
    assert told.endswith("--budget-tokens limits them, and a corpus with --extractor pattern needs none")
    assert len(chat.calls) == 2
    again = hopweave("ingest", papers, "-c", "p")
    assert "extractor pattern+llm" not in again.err  # nothing has changed, so nothing is called
    assert "of the language model" not in hopweave("ingest", papers, "-c", "q", "--extractor", "pattern").err
    assert len(chat.calls) == 2


def test_without_a_model_auto_extracts_names(
    hopweave: Hopweave,
    worker: None,  # noqa: ARG001 - a fixture takes fixtures so
    papers: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOPWEAVE_EXTRACTOR", "auto")
    assert hopweave("ingest", papers, "-c", "p").code == 0
    assert hopweave("corpora", "show", "p", "--json").json["extractor"] == "pattern"


def test_without_a_model_an_ingest_is_refused_and_an_estimate_is_not(
    hopweave: Hopweave, papers: Path, tmp_path: Path
) -> None:
    for extractor in ("llm", "pattern+llm:attempts=1"):
        estimated = hopweave("ingest", papers, "-c", "p", "--dry-run", "--extractor", extractor, "--json")
        assert estimated.code == 0, estimated.err
        assert estimated.json["model"]["calls"] == 2
        assert estimated.json["model"]["prompt_tokens"] > 200
    assert not (tmp_path / "data").exists()
    ran = hopweave("ingest", papers, "-c", "p", "--extractor", extractor)
    assert ran.code == 2
    assert "HOPWEAVE_LLM__MODEL" in ran.err


def test_a_used_up_budget_pauses_and_resume_goes_on(
    chat: ChatServer, hopweave: Hopweave, request: pytest.FixtureRequest, papers: Path
) -> None:
    request.getfixturevalue("worker")  # after the endpoint, whose settings it reads
    ran = hopweave("ingest", papers, "-c", "p", "--extractor", "llm", "--budget-tokens", "1", "--json")
    assert ran.code == 1
    assert ran.json["job"]["state"] == "paused"
    assert ran.json["documents"]["paused"] >= 1
    assert ran.json["usage"]["calls"] == len(chat.calls) == 1
    job = ran.json["job"]["id"]
    done = hopweave("jobs", "resume", job, "--budget-tokens", "100000", "--json")
    assert done.code == 0, done.err
    assert done.json["state"] == "done"
    assert len(chat.calls) == 2
    again = hopweave("jobs", "resume", job)
    assert again.code == 1
    assert "only a paused job" in again.err
