"""`hopweave prompts`, and `--prompts` of the commands that ask."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Hopweave, use_model
from tests.integration.reasoning.par_replies import DOCUMENTS, QUESTION
from tests.integration.reasoning.published_replies import level_reply, par_reply
from tests.twins.chat_server import Call, ChatServer, Reply


def test_an_export_is_a_start(hopweave: Hopweave, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = hopweave("prompts", "export", "mine")
    assert (ran.code, ran.out) == (0, "")
    assert "prompts were written into mine" in ran.err
    assert "--- user ---" in (tmp_path / "mine" / "conclude.md").read_text("utf-8")
    for file in (tmp_path / "mine").iterdir():
        if file.name != "conclude.md":
            file.unlink()
    monkeypatch.setenv("HOPWEAVE_PROMPTS_DIR", "mine")
    listed = {one["name"]: one for one in hopweave("prompts", "list", "--json").json["data"]}
    assert listed["conclude"]["replaced_by"] == "mine/conclude.md"
    assert listed["filter_facts"] == {"name": "filter_facts", "variables": ["facts", "question"], "replaced_by": None}
    assert "mine/conclude.md" in hopweave("prompts", "list").out
    again = hopweave("prompts", "export", "mine")
    assert (again.code, again.out) == (2, "")
    assert "is not overwritten" in again.err


@pytest.mark.parametrize("command", [("worker",), ("doctor",), ("search", "Ada", "-c", "papers")])
def test_a_prompt_that_does_not_fit_ends_each_command(
    hopweave: Hopweave, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    (tmp_path / "concluding.md").write_text("Answer.", "utf-8")
    monkeypatch.setenv("HOPWEAVE_PROMPTS_DIR", str(tmp_path))
    ran = hopweave(*command)
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1), ran.err
    assert "concluding.md: there is no prompt 'concluding'; `hopweave prompts list` shows the names" in ran.err
    assert hopweave("prompts", "list").code == 0


def test_a_question_with_prompts_of_a_folder(
    hopweave: Hopweave,
    worker: None,  # noqa: ARG001 - a fixture takes fixtures so
    papers: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert hopweave("ingest", papers, "-c", "papers").code == 0
    folder = tmp_path / "prompts"
    folder.mkdir()
    text = "Speak like a pirate.\n{{support}}{{instructions}}\n--- user ---\n{{passages}}{{question}}"
    (folder / "conclude.md").write_text(text, "utf-8")
    reply = {"answer": "Ada [1]", "support": "stated", "unstated": ""}
    with ChatServer(respond=lambda _: Reply.json(reply)) as chat:
        use_model(monkeypatch, chat)
        ask = ("ask", "Who wrote the first program?", "-c", "papers", "--reasoner", "vanilla", "--prompts", folder)
        assert hopweave(*ask).code == 0
        assert "pirate" in chat.calls[0].text
        (folder / "conclude.md").write_text(text.replace("{{support}}", "{{sources}}"), "utf-8")
        ran = hopweave(*ask)
        assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
        assert "conclude.md: it has unknown variables: {{sources}}; remove them" in ran.err
        assert len(chat.calls) == 1
        (folder / "conclude.md").write_text(text.replace("{{support}}", ""), "utf-8")
        assert hopweave(*ask).code == 0
        assert "`support`" not in chat.calls[1].text


@pytest.mark.parametrize(("reasoner", "reply"), [("level", level_reply), ("par", par_reply)])
def test_a_question_in_the_published_forms(
    hopweave: Hopweave,
    worker: None,  # noqa: ARG001 - a fixture takes fixtures so
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    reasoner: str,
    reply: Callable[[Call], Reply],
) -> None:
    """From the option to the answer, over the real stores."""
    documents = [{"id": key, "title": title, "text": text} for key, (title, text) in DOCUMENTS.items()]
    (tmp_path / "novels.jsonl").write_text("\n".join(map(json.dumps, documents)), "utf-8")
    assert hopweave("ingest", "novels.jsonl", "-c", "novels").code == 0
    with ChatServer(respond=reply) as chat:
        use_model(monkeypatch, chat, SEND_METADATA="true")
        ran = hopweave("ask", QUESTION, "-c", "novels", "--reasoner", reasoner, "--prompts", "published", "--json")
        assert ran.code == 0, ran.err
        assert ran.json["answer"].startswith("Viking Press"), ran.json
        assert ran.json["citations"]
        assert {call.mode for call in chat.calls if call.role in {"atomic_queries", "summarize", "plan", "answer"}} == {
            "text"
        }


def test_the_published_prompts_are_listed_and_exported(hopweave: Hopweave, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWEAVE_PROMPTS_DIR", "published")
    listed = {one["name"]: one for one in hopweave("prompts", "list", "--json").json["data"]}
    assert Path(listed["verify"]["replaced_by"]).parts[-2:] == ("published", "verify.md")
    assert listed["conclude"]["replaced_by"] is None
    assert hopweave("prompts", "export", "theirs", "--published").code == 0
    assert Path("theirs/verify.md").read_text("utf-8").startswith("--- reply: yes_no ---\n")
    assert not Path("theirs/conclude.md").exists()
    monkeypatch.setenv("HOPWEAVE_PROMPTS_DIR", "theirs")
    again = {one["name"]: one for one in hopweave("prompts", "list", "--json").json["data"]}
    assert again.keys() == listed.keys()
    assert again["verify"]["replaced_by"] == "theirs/verify.md"


def test_an_evaluation_refuses_a_prompt_that_only_a_worker_would_use(hopweave: Hopweave, tmp_path: Path) -> None:
    hopweave("prompts", "export", "mine")
    ran = hopweave("eval", tmp_path, "--reasoner", "cot", "--extractor", "given+llm:attempts=1", "--prompts", "mine")
    assert ran.code == 2
    assert "replaces `openie`" in ran.err
    assert "HOPWEAVE_PROMPTS_DIR" in ran.err
