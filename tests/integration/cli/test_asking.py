"""`hopweave ask` with a language model: drawn on a terminal, told line by line, whole, as JSON, and interrupted."""

import csv
import io
import json
import os
import pty
import re
import signal
import sys
import threading
from collections.abc import Iterator
from typing import TextIO

import pytest

from tests.integration.cli.conftest import Hopweave, Ran, use_model
from tests.twins.chat_server import Call, ChatServer, Reply

_QUESTION = "Who wrote the first program?"
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    said = {"answer": "Ada \x1b]0;title\x07Lovelace [bold]wrote[/bold] it [1].", "support": "stated"}
    said |= {"sentence": said["answer"], "kind": "answer"}
    with ChatServer(respond=lambda _: Reply.json(said)) as server:
        use_model(monkeypatch, server)
        monkeypatch.setenv("HOPWEAVE_REASONER", "vanilla")
        yield server


@pytest.fixture
def asked(hopweave: Hopweave, corpus: str, chat: ChatServer) -> Hopweave:  # noqa: ARG001 - a fixture takes fixtures so
    def command(*arguments: object) -> Ran:
        return hopweave("ask", _QUESTION, "-c", corpus, *arguments)

    return command


class Terminal:
    """A pseudo-terminal to put in place of stderr; `text` is what a person saw, without the steering."""

    def __init__(self) -> None:
        self._screen, end = pty.openpty()
        self.stream: TextIO = os.fdopen(end, "w", encoding="utf-8", errors="backslashreplace")
        self._read: list[bytes] = []
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while True:
            try:
                self._read.append(os.read(self._screen, 65_536))
            except OSError:
                return  # the other end was closed

    @property
    def raw(self) -> str:
        if not self.stream.closed:
            self.stream.close()
            self._thread.join()
            os.close(self._screen)
        return b"".join(self._read).decode()

    @property
    def text(self) -> str:
        return _ESCAPE.sub("", self.raw)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    made = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    yield made
    assert made.raw is not None


def test_the_plan_is_drawn_on_a_terminal(
    asked: Hopweave, terminal: Terminal, chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", terminal.stream)
    ran = asked("-k", 2)
    assert ran.code == 0
    assert len(chat.calls) == 1
    shown = terminal.text
    assert f"1 {_QUESTION}" in shown
    assert "inferred, not stated: 0; " in shown, "the digit of the escape is a number that no passage has"
    assert "tokens" in shown
    assert "\x1b]0;" not in terminal.raw, "a model must not steer the terminal"
    assert ran.out.startswith("Ada \ufffd]0;title\ufffdLovelace [bold]wrote[/bold] it [1]. (inferred)\n")
    assert re.search(r"^1 call, [\d,]+ tokens, \d+\.\d s$", ran.out, re.MULTILINE)


def test_without_a_terminal_a_line_a_step_of_the_plan(asked: Hopweave, chat: ChatServer) -> None:
    reply = {"answer": "Ada \x1b]0;title\x07", "support": "inferred", "unstated": "the year\x1b", "citations": [1]}
    plan = {"questions": [_QUESTION, "Who read it?"]}
    chat.respond = lambda call: Reply.json(plan if "questions" in str(call.body["response_format"]) else reply)
    ran = asked("--reasoner", "decompose")
    assert ran.code == 0
    line = ran.err.splitlines()[0]
    assert f"{_QUESTION} -> Ada \ufffd]0;title\ufffd (inferred, not stated: the year\ufffd; from " in line
    assert "\x1b" not in ran.err + ran.out


def test_an_answer_without_a_plan_is_said_once(asked: Hopweave) -> None:
    ran = asked()
    assert ran.code == 0
    assert not ran.err
    assert "\x1b" not in ran.err + ran.out
    assert "[1] " in ran.out
    assert [asked(option).err for option in ("--no-stream", "--json")] == ["", ""]


def test_csv_has_a_row_for_each_document_of_a_survey(hopweave: Hopweave, corpus: str) -> None:
    question = "Which documents mention Ada Lovelace?"
    ran = hopweave("ask", question, "-c", corpus, "--reasoner", "survey:calls=0", "--csv")
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    listed = hopweave("ask", question, "-c", corpus, "--reasoner", "survey:calls=0", "--json").json
    assert rows
    assert [row["key"] for row in rows] == [row["key"] for row in listed["table"]]
    assert {row["kind"] for row in rows} == {"document"}
    assert all("Lovelace" in row["quotes"] for row in rows)
    assert ran.err.startswith("Read ")


def test_csv_of_another_answer_is_empty_and_says_so(asked: Hopweave) -> None:
    ran = asked("--csv")
    assert list(csv.DictReader(io.StringIO(ran.out))) == []
    assert "the answer lists no documents" in ran.err
    assert asked("--csv", "--json").code == 2


def test_json_is_what_the_server_answers(asked: Hopweave, chat: ChatServer) -> None:
    chat.respond = lambda _: Reply.json({"answer": "Ada Lovelace wrote it [1].", "support": "stated"})
    shown = asked("--json", "--budget", "calls=3,seconds=30", "--instructions", "Briefly.", "--web").json
    assert set(shown) == {
        *("answer", "citations", "steps", "usage", "reasoner", "abstained", "support", "note", "notes", "timing"),
        *("verification_cost", "verification", "table"),
    }
    assert (shown["support"], shown["note"], shown["steps"][0]["support"]) == ("stated", "", "stated")
    assert shown["usage"]["actions"][0]["model"] == "twin"
    assert shown["steps"][0]["hits"][0]["url"] is None
    assert "Briefly." in chat.calls[0].text, "instructions reach the model"


def test_the_answer_says_what_it_stands_on_and_why(asked: Hopweave, chat: ChatServer) -> None:
    for unsupported, answer, support, shown in (
        ("infer", "Ada [1]", "inferred", "Ada [1] (inferred)\nThis answer is inferred; the passages do not state it."),
        ("memory", "Ada", "memory", "Ada (from memory)\nThis answer is from the model's memory; no passage"),
        ("abstain", "Ada [1]", "inferred", "found states the answer. (no answer)\nNot stated: the year."),
    ):
        said = {"answer": answer, "support": support, "unstated": "the year"}
        chat.respond = lambda _, said=said: Reply.json(said)  # type: ignore[misc] # of this turn
        assert shown in asked("--unsupported", unsupported).out


def test_faults_are_one_line(asked: Hopweave) -> None:
    for arguments, named in (
        (("--budget", "calls"), "calls"),
        (("--budget", "calls=-1"), "calls"),
        (("--budget", "money=3"), "money"),
        (("--verify-budget", "money=3"), "--verify-budget 'money=3' is wrong"),
        (("-k", 0), "'-k'"),
        (("--reasoner", "no-such"), "no-such"),
        (("--unsupported", "guess"), "infer"),
    ):
        ran = asked(*arguments)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran.err
        assert named in ran.err


def test_a_budget_that_is_over(asked: Hopweave, chat: ChatServer) -> None:
    chat.respond = lambda _: Reply(stall=True)
    ran = asked("--budget", "seconds=0.05")
    assert (ran.code, ran.out) == (1, "")
    assert "seconds" in ran.err.splitlines()[-1]


def test_a_model_that_fails_is_one_line(asked: Hopweave, chat: ChatServer) -> None:
    chat.respond = lambda _: Reply(status=401, text="Incorrect API key provided: sk-a-key-that-nobody-may-see")
    ran = asked()
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1), ran.err
    assert "nobody-may-see" not in ran.err


@pytest.mark.parametrize("option", ["-k3", "--no-stream"])
def test_control_c_ends_the_calls(asked: Hopweave, chat: ChatServer, option: str) -> None:
    def interrupting(_: Call) -> Reply:
        os.kill(os.getpid(), signal.SIGINT)
        return Reply(stall=True)

    chat.respond = interrupting
    ran = asked(option)
    assert (ran.code, ran.out) == (130, "")
    assert ran.err == "hopweave: interrupted; model calls in flight are cancelled\n"
    assert len(chat.calls) == 1


def test_the_cost_of_a_verification_is_told_first_then_what_the_answer_hangs_on(
    asked: Hopweave, chat: ChatServer
) -> None:
    ran = asked("--verify", "-k", 1)
    assert ran.code == 0
    told = ran.err.splitlines()
    assert re.fullmatch(r"verifying: 1 document masked in turn, about 2 calls and [\d,]+ tokens", told[0])
    assert re.fullmatch(r"\w+ +\[1\] .+", told[1])
    assert "\nWhat the answer hangs on:\n" in ran.out
    assert re.search(r"^verified with \d+ calls?(?: and \d+ from the cache)?, [\d,]+ tokens$", ran.out, re.MULTILINE)
    assert "\x1b" not in ran.err + ran.out
    assert chat.calls


def test_a_verification_is_in_the_json(asked: Hopweave) -> None:
    ran = asked("--verify-budget", "tokens=1", "--json")
    assert ran.code == 0
    [verdict, *_] = ran.json["verification"]["documents"]
    assert (verdict["role"], verdict["without"]) == ("unclear", None)
    assert "--verify-budget" in ran.json["verification"]["notes"][0]


def test_a_search_tells_no_cost_where_none_was(hopweave: Hopweave, asked: Hopweave) -> None:  # noqa: ARG001 - it fills the corpus
    ran = hopweave("search", _QUESTION, "-c", "papers", "--json")
    assert json.loads(ran.out)["usage"] == {
        **dict.fromkeys(("calls", "cached", "prompt_tokens", "completion_tokens"), 0),
        "seconds": 0,
        "actions": [],
    }
    assert "tokens" not in hopweave("search", _QUESTION, "-c", "papers", "--web").out
