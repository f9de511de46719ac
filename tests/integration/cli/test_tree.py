"""`hopweave corpora tree` with a real clustering, a worker, and a scripted endpoint that summarizes."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Hopweave, use_model
from tests.twins.chat_server import Call, ChatServer, Reply

SUMMARY = "Ferry towns of the delta and their bells, told together."
TOWNS = 14


def summarize(call: Call) -> Reply:
    if call.role == "summarize_cluster":
        return Reply(text=json.dumps({"summary": f"{SUMMARY} {len(call.text)}"}))
    return Reply(text=json.dumps({"answer": "Ferry towns", "support": "inferred", "citations": [1]}))


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    with ChatServer(respond=summarize) as chat:
        use_model(monkeypatch, chat, CACHE="false", SEND_METADATA="true", CONCURRENCY="1")
        yield chat


@pytest.fixture
def towns(hopweave: Hopweave, worker: None, tmp_path: Path) -> None:  # noqa: ARG001 - a fixture takes fixtures so
    words = ("ferry", "bell", "delta", "market", "bridge", "garden", "tower")
    lines = [
        {
            "id": f"town-{n}",
            "title": f"Town {n}",
            "text": f"Town {n} has a {words[n % 7]} and a {words[n * 3 % 7]}.",
            "access": [None, ["group:a", "group:b"], ["group:b"]][n % 3],
        }
        for n in range(TOWNS)
    ]
    file = tmp_path / "towns.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert hopweave("ingest", file, "-c", "towns", "--no-graph").code == 0


@pytest.mark.usefixtures("towns")
@pytest.mark.slow  # umap-learn compiles what it runs
def test_a_tree_is_continued_where_it_failed_and_searched_within_its_budget(
    chat: ChatServer, hopweave: Hopweave
) -> None:
    told = hopweave("corpora", "tree", "towns", "high", "--estimate")
    assert told.code == 0, told.err
    assert "tree of towns: about 2 calls of the language model, one a summary, with " in told.err
    assert chat.calls == []

    def fail_after_one(call: Call) -> Reply:
        return summarize(call) if len(chat.calls) == 1 else Reply(status=401)

    chat.respond = fail_after_one
    failed = hopweave("corpora", "tree", "towns", "high")
    assert failed.code != 0
    names = [one["name"] for one in hopweave("corpora", "list", "--json").json["data"]]
    assert names == ["high-unfinished", "towns"]
    first = chat.calls[0].text
    chat.respond, before = summarize, len(chat.calls)
    built = hopweave("corpora", "tree", "towns", "high", "--json")
    assert built.code == 0, built.err
    assert built.json["passages"] == TOWNS
    assert first not in [call.text for call in chat.calls[before:]]  # it is not paid again
    (layer,) = built.json["layers"]
    assert built.json["written"] == layer - 1 == len(chat.calls) - before

    documents = hopweave("documents", "list", "-c", "high", "--json").json["data"]
    leaves = {one["key"] for one in documents if "raptor_level" not in one["metadata"]}
    summaries = [one for one in documents if one["metadata"].get("raptor_level") == 1]
    assert leaves == {f"town-{n}" for n in range(TOWNS)}
    assert {key for one in summaries for key in one["metadata"]["raptor_children"]} == leaves
    assert len(documents) == TOWNS + layer
    access = {one["key"]: one["access"] for one in documents}
    assert [access[f"town-{n}"] for n in range(3)] == [None, ["group:a", "group:b"], ["group:b"]]
    for one in summaries:
        lists = [access[key] for key in one["metadata"]["raptor_children"] if access[key] is not None]
        assert one["access"] == (sorted(set.intersection(*map(set, lists))) if lists else None)

    found = hopweave("search", SUMMARY, "-c", "high", "--searcher", "raptor:tokens=30", "-k", "10", "--json").json
    hits = found["hits"]
    assert hits[0]["document"]["metadata"]["raptor_level"] == 1
    whole = hopweave("search", SUMMARY, "-c", "high", "--searcher", "raptor", "-k", "10", "--json").json["hits"]
    assert [hit["document"]["key"] for hit in hits] == [hit["document"]["key"] for hit in whole][: len(hits)]
    assert len(hits) < len(whole) == 10
    asked = hopweave(
        "ask", "What are the towns?", "-c", "high", "--reasoner", "vanilla:searcher=raptor,k=100", "--json"
    )
    assert asked.code == 0, asked.err
    assert "raptor_level" in asked.out

    taken = hopweave("corpora", "tree", "towns", "high")
    assert taken.code != 0
    assert "corpus 'high' exists" in taken.err


@pytest.mark.usefixtures("towns")
def test_what_a_tree_lacks_is_said_before(hopweave: Hopweave) -> None:
    assert "HOPWEAVE_LLM__MODEL" in hopweave("corpora", "tree", "towns", "high").err
