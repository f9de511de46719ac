"""The action `query_entities`: names of a text, without a call for a text that can have none."""

import pytest

from core.ports.reasoning import Question
from core.trace import Trace
from reasoning.actions.queries.search_queries import query_entities
from reasoning.engine.session import Session
from tests.reasoning_desk import ReasoningDesk
from tests.twins.chat_server import Reply


@pytest.mark.parametrize(
    ("text", "names"),
    [("48%", ()), ("1894", ()), ("17.5.1220; 1216", ()), ("", ()), ("May 1220", ("Hinton",)), ("北京", ("Hinton",))],
)
async def test_a_text_without_letters_needs_no_call(desk: ReasoningDesk, text: str, names: tuple[str, ...]) -> None:
    desk.server.respond = lambda _: Reply.json({"entities": ["Hinton", " Hinton ", ""]})
    session = Session(
        "par", Question(corpus=desk.corpus, text="?"), desk.models, ("bridged", desk.backends.searcher), Trace()
    )
    try:
        assert await query_entities(session, text) == names
    finally:
        await desk.models.close()
    assert bool(desk.server.calls) == bool(names)
