"""`hopweave questions`: by the server on the data folder and without one, with the same output."""

import json
import time

import httpx

from tests.integration.cli.conftest import Hopweave
from tests.integration.cli.test_folder_server import QUERY, serving


def _ask(url: str, corpus: str) -> str:
    path = f"{url}/v1/corpora/{corpus}/questions"
    made = httpx.post(path, json={"question": QUERY, "reasoner": "extractive:min_probability=0"}, timeout=60)
    assert made.status_code == 202, made.text
    id = str(made.json()["id"])
    deadline = time.monotonic() + 60
    while httpx.get(f"{path}/{id}", timeout=60).json()["state"] == "running":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return id


def test_questions_are_listed_shown_repeated_compared_and_deleted(hopweave: Hopweave, corpus: str) -> None:
    with serving() as url:
        first = _ask(url, corpus)
        there = [
            hopweave("questions", *command, "-c", corpus, "--json").json for command in (("list",), ("show", first))
        ]
        again = hopweave("questions", "again", first, "-c", corpus, "--json").json
        assert (again["state"], again["again_of"]) == ("done", first)
        changes = hopweave("questions", "changes", again["id"], "-c", corpus, "--json").json
        hopweave("questions", "delete", again["id"], "-c", corpus)
    here = [hopweave("questions", *command, "-c", corpus, "--json").json for command in (("list",), ("show", first))]
    assert here == there
    kept = hopweave("questions", "keep", first, "-c", corpus)
    assert "kept" in kept.out
    listed = hopweave("questions", "list", "-c", corpus, "--kept").out
    assert first in listed
    repeated = hopweave("questions", "again", first, "-c", corpus, "--json").json
    same = hopweave("questions", "changes", repeated["id"], "-c", corpus, "--json").json
    assert {name: same[name] for name in ("same_answer", "support", "documents")} == {
        name: changes[name] for name in ("same_answer", "support", "documents")
    }
    told = hopweave("questions", "changes", repeated["id"], "-c", corpus).out
    assert "the same" in told
    shown = hopweave("questions", "show", first, "-c", corpus).out
    assert json.dumps(there[1]["answer"]["answer"])[1:20] in shown
    assert hopweave("questions", "delete", first, "-c", corpus).code == 0
    missing = hopweave("questions", "show", first, "-c", corpus)
    assert (missing.code, "no question" in missing.err) == (1, True)
