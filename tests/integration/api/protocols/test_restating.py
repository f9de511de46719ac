"""Questions of a conversation on any route: what is searched for, what the reasoner sees, what may go to the web."""

from pathlib import Path

import pytest

from app.services import questions
from core.ports.chat import Message, Speaker
from core.settings import WebSettings
from core.strategies import parse_spec
from core.trace import Trace
from tests.integration.api.asking import ASK, asking
from tests.twins.chat_server import ChatServer, Reply
from tests.twins.searxng_server import SearxngServer

_HISTORY = (
    Message(speaker=Speaker.USER, content="Who wrote the first program?"),
    Message(speaker=Speaker.ASSISTANT, content="The secret Ada Lovelace."),
)
_ANSWER = Reply.json({"answer": "Charles Babbage [1].", "support": "stated", "unstated": ""})


async def test_a_question_that_may_go_to_the_web_is_not_restated(tmp_path: Path, chat: ChatServer) -> None:
    chat.script.append(_ANSWER)
    with SearxngServer() as web:
        async with asking(tmp_path, chat, web=WebSettings(kind="searxng", url=web.url)) as server:
            corpus = await server.container.record.corpora.get("people")
            request = questions.AskRequest(
                question="Whom did she know?", history=_HISTORY, searcher=parse_spec("web"), web=True
            )
            await questions.ask(server.container, corpus, request, Trace())
        assert web.questions == ["Whom did she know?"], "as the user typed it"
    assert len(chat.calls) == 1


async def test_auto_does_not_rewrite_a_restated_question_again(tmp_path: Path, chat: ChatServer) -> None:
    settled = {"answer": "Charles Babbage [1]", "citations": [{"passage": 1, "quote": "Charles Babbage"}], "steps": []}
    chat.script += [Reply.json({"question": "Whom did Ada Lovelace know?"}), Reply.json(settled)]
    async with asking(tmp_path, chat) as server:
        corpus = await server.container.record.corpora.get("people")
        request = questions.AskRequest(question="Whom did she know?", history=_HISTORY, reasoner=parse_spec("auto"))
        trace = Trace()
        await questions.ask(server.container, corpus, request, trace)
    assert "The secret Ada" not in chat.calls[-1].text, "the history is paid for once"
    roles = [row.action for row in trace.usage.actions.values()]
    assert roles[:2] == ["restate_question", "settle_or_plan"]
    assert "denoise" not in roles


@pytest.mark.parametrize("path", [ASK, "/v1/ask"])
async def test_a_question_with_a_history_is_restated(tmp_path: Path, chat: ChatServer, path: str) -> None:
    chat.script += [Reply.json({"question": "Whom did Ada Lovelace know?"}), _ANSWER]
    history = [{"role": str(turn.speaker), "content": turn.content} for turn in _HISTORY]
    body = {"question": "Whom did she know?", "history": history, **({} if path == ASK else {"corpora": ["people"]})}
    async with asking(tmp_path, chat) as server:
        answer = (await server.client.post(path, json=body)).json()
    assert answer["steps"][0]["question"] == "Whom did Ada Lovelace know?"
    assert "the question was understood as: Whom did Ada Lovelace know?" in answer["notes"]
    restating, concluding = chat.calls
    assert "The secret Ada" in restating.text
    assert "The secret Ada" not in concluding.text, "the history is paid for once"


async def test_nothing_of_a_conversation_is_cached(tmp_path: Path, chat: ChatServer) -> None:
    """An earlier answer may hold words of any document, which may be deleted meanwhile."""
    history = [{"role": str(turn.speaker), "content": turn.content} for turn in _HISTORY]
    async with asking(tmp_path, chat) as server:
        for _ in range(2):
            chat.script += [Reply.json({"question": "Whom did Ada Lovelace know?"}), _ANSWER]
            answer = (await server.client.post(ASK, json={"question": "Whom did she know?", "history": history})).json()
            chat.script.clear()
    restatements = [call for call in chat.calls if "<conversation>" in call.text]
    assert len(restatements) == 2
    assert answer["usage"]["cached"] == 1, "the last call is about the restated question alone"
