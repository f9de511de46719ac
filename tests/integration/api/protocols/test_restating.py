"""Questions of a conversation: what is searched for, what the reasoner sees, and what may go to the web."""

from pathlib import Path

from app.services import questions
from core.ports.chat import Message, Speaker
from core.settings import WebSettings
from core.strategies import parse_spec
from core.trace import Trace
from tests.integration.api.asking import asking
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
                question="Whom did she know?", history=_HISTORY, searcher=parse_spec("web"), web=True, restate=True
            )
            await questions.ask(server.container, corpus, request, Trace())
        assert web.questions == ["Whom did she know?"], "as the user typed it"
    assert len(chat.calls) == 1


async def test_auto_does_not_rewrite_a_restated_question_again(tmp_path: Path, chat: ChatServer) -> None:
    settled = {"answer": "Charles Babbage [1]", "citations": [{"passage": 1, "quote": "Charles Babbage"}], "steps": []}
    chat.script += [Reply.json({"question": "Whom did Ada Lovelace know?"}), Reply.json(settled)]
    async with asking(tmp_path, chat) as server:
        corpus = await server.container.record.corpora.get("people")
        request = questions.AskRequest(
            question="Whom did she know?", history=_HISTORY, reasoner=parse_spec("auto"), restate=True
        )
        trace = Trace()
        await questions.ask(server.container, corpus, request, trace)
    assert "The secret Ada" not in chat.calls[-1].text, "the history is paid for once"
    roles = [row.action for row in trace.usage.actions.values()]
    assert roles[:2] == ["restate_question", "settle_or_plan"]
    assert "denoise" not in roles
